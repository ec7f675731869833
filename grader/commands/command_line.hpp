// What the command lines of this project's programs have in common.
#pragma once

#include <functional>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "common/simgpu/processor.hpp"
#include "grader/commands/commands.hpp"
#include "grader/report/text.hpp"

namespace grader {

/// --root and --build, before any subcommand, and what becomes of errors. In the header: CLI11
/// takes seconds to read, and every program's main.cpp reads it anyway.
class CommandLine : public CLI::App {
 public:
  CommandLine(const std::string& program, const std::string& about) : CLI::App(about, program) {
    add_option("--root", place_.root, "the project's folder")->capture_default_str();
    add_option("--build", place_.build, "where generated files go")->envname("BUILD");
  }

  /// What was said of them, once the command runs.
  const Place& place() const { return place_; }

  /// Reads argv and carries out `command`. Every error becomes one line on stderr and the exit
  /// status that says whose fault it is.
  int run(int argc, char** argv, const std::function<ExitCode()>& command) {
    try {
      parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
      return exit(help);
    } catch (const CLI::CallForAllHelp& help) {
      return exit(help);
    } catch (const CLI::ParseError& error) {
      complain(error.what());
      return exit_usage;
    }
    if (!simgpu::runs_here()) {
      complain(get_name() +
               " was built for another processor: build it on this machine (make); where it came "
               "ready-made, ask for a handout with SOURCES=1");
      return exit_infrastructure;
    }
    try {
      return command();
    } catch (const UserError& error) {
      complain(error.what());
      return error.exit_code;
    } catch (const std::exception& error) {
      complain("the " + get_name() + " program failed: " + error.what());
      return exit_infrastructure;
    }
  }

 private:
  static void complain(const std::string& message) {
    std::cerr << report::styled("error:", report::Style::bad, report::use_colour(2)) << ' '
              << message << '\n';
  }

  Place place_;
};

}  // namespace grader
