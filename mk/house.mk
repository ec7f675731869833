# The figures that say whether the house is still as small as it should be; part of make test-all.
.PHONY: house
house: ## authors: the project's sizes and their limits
	$(Q)bash grader/author/house.sh
