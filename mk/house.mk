# The figures that say whether the house is still as small as it should be; part of make test-all.
.PHONY: house
house: ## authors: how large it all is, beside what it may be
	$(Q)bash grader/author/house.sh
