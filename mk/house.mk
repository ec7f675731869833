# The sizes of the project and their limits; part of make test-all.
.PHONY: house
house: ## authors: the project's sizes and their limits
	$(Q)bash grader/author/house.sh
