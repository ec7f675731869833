# The tutorial as a site.
.PHONY: docs serve
PORT ?= 8000
docs: ## authors: build the tutorial: build/docs/index.html
	$(Q)[ -e $(BUILD) ] || sh $(SCRIPTS)/new_build.sh $(BUILD); sh docs/tools/build.sh $(BUILD)/venv $(BUILD)/docs
serve: docs ## authors: preview it at http://127.0.0.1:8000, [PORT=n]
	$(Q)cd $(BUILD)/docs && echo 'http://127.0.0.1:$(PORT)  (Ctrl-C ends it)' && exec python3 -m http.server --bind 127.0.0.1 $(PORT) 2>/dev/null
