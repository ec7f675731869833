#include <algorithm>
#include <cctype>
#include <regex>

#include <fmt/format.h>

#include "grader/course/intake/intake.hpp"
#include "grader/course/intake/kinds.hpp"
#include "grader/errors.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/sha256.hpp"

namespace grader::intake {
namespace {

constexpr std::size_t most_remarks = 8, most_extra = 3;

/// "lab3" or "lab3_anything" -> 3; -1 otherwise.
int lab_number(const std::string& folder) {
  if (folder.compare(0, 3, "lab") != 0) return -1;
  std::size_t end = 3;
  int number = 0;
  while (end < folder.size() && end < 7 && std::isdigit(static_cast<unsigned char>(folder[end])))
    number = number * 10 + (folder[end++] - '0');
  return end > 3 && (end == folder.size() || folder[end] == '_') ? number : -1;
}

const Lab* lab_with(const std::vector<Lab>& labs, int number) {
  const auto found =
      std::find_if(labs.begin(), labs.end(), [&](const Lab& lab) { return lab.id == number; });
  return found == labs.end() ? nullptr : &*found;
}

bool has_file(const Lab& lab, const std::string& file) {
  const auto files = lab.files();
  return std::find(files.begin(), files.end(), file) != files.end();
}

/// Where a path belongs, if anywhere.
struct Place {
  const Lab* lab = nullptr;
  std::string file;
  std::size_t depth = 0;  ///< folders around labN/
  bool loose = false;     ///< no labN/ in the path: its text said so
};

/// What a browser or a platform makes of the name of a second upload, "gemm (1).cu" or "gemm-1.cu" or
/// "gemm - Copy.cu", under its own name; any other name as it is.
std::string first_name(const std::string& name) {
  static const std::regex numbered(
      R"(^(.+?)(?:\s*\(\d{1,3}\)|[-_ ]\d{1,3}|[-_ ]+copy(?: ?\(?\d{1,3}\)?)?)\.cu$)");
  std::smatch match;
  const bool another = name.size() <= most_name_bytes && std::regex_match(name, match, numbered);
  return another ? match[1].str() + ".cu" : name;
}
constexpr std::size_t behind_first_names = 500;  ///< added to the depth: the plain name comes first

/// .../lab3_shared_mem/gemm.cu
Place place_by_folder(const std::string& path, const std::vector<Lab>& labs) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  const std::size_t before = path.rfind('/', slash - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const Lab* lab = lab_with(labs, lab_number(folded(path.substr(begin, slash - begin))));
  const std::string own = folded(path.substr(slash + 1));
  if (!lab) return {};
  const bool plain = has_file(*lab, own);
  const std::string file = plain ? own : first_name(own);
  if (!plain && !has_file(*lab, file)) return {};
  const auto depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
  return {lab, file, depth + (plain ? 0 : behind_first_names), !plain};
}

bool defines(const TreeFile& file, const Rung& rung) {
  return file.bytes.find("void " + rung.name + "(") != std::string::npos;
}

/// A file by itself: "lab3_gemm.cu" says it by its name, "gemm.cu" by the launchers that it defines.
Place place_by_text(const TreeFile& file, const std::vector<Lab>& labs) {
  std::string name = first_name(folded(file.path.substr(file.path.rfind('/') + 1)));
  const std::size_t depth =
      1000 + static_cast<std::size_t>(std::count(file.path.begin(), file.path.end(), '/'));
  static const std::regex prefixed(R"(^lab(\d{1,3})[-_. ]+(.+\.cu)$)");
  std::smatch match;
  if (name.size() <= most_name_bytes && std::regex_match(name, match, prefixed)) {
    const Lab* lab = lab_with(labs, std::stoi(match[1]));
    if (lab && has_file(*lab, match[2])) return {lab, match[2], depth, true};
    return {};
  }
  Place place;
  for (const auto& lab : labs) {
    if (!has_file(lab, name)) continue;
    const bool named = std::any_of(lab.rungs.begin(), lab.rungs.end(), [&](const Rung& rung) {
      return rung.file == name && defines(file, rung);
    });
    if (!named) continue;
    if (place.lab) return {};  // of two labs: nobody can tell
    place = {&lab, name, depth, true};
  }
  return place;
}

/// What might have been meant with a file that counts nowhere, for whoever wonders; "" if nothing.
/// `handed_in`: whether there is another file for a rung's.
template <typename HandedIn>
std::string meant(const TreeFile& file, const std::vector<Lab>& labs, const HandedIn& handed_in) {
  const std::string name = folded(file.path.substr(file.path.rfind('/') + 1));
  if (is_foreign_archive(name)) return foreign_archive;
  if (!name.ends_with(".cu")) return "";
  const std::string first = first_name(name);
  const bool named =
      std::any_of(labs.begin(), labs.end(), [&](const Lab& lab) { return has_file(lab, first); });
  if (named && file.bytes.empty()) return "an empty file";
  if (named && file.bytes.find('\0') != std::string::npos)
    return "not in UTF-8, so nobody can tell of which lab it is; save it as UTF-8";
  std::vector<std::string> of;
  for (const auto& lab : labs)
    for (const auto& rung : lab.rungs)
      if (defines(file, rung) && !handed_in(lab, rung.file))
        of.push_back("lab" + std::to_string(lab.id) + "/" + rung.file);
  of.erase(std::unique(of.begin(), of.end()), of.end());
  if (of.empty()) return "";
  return fmt::format("has functions of {}, and nothing else says that it is {}",
                     fmt::join(of, " and "), of.size() == 1 ? "that file" : "one of these files");
}

/// A remark on each of these files, those first with which something may have been `meant`; they are
/// added to `uncounted` too. No more than most_extra of either.
template <typename Meant>
std::vector<std::string> extra_files(const std::vector<const TreeFile*>& files, const Meant& meant,
                                     std::vector<Uncounted>& uncounted) {
  std::vector<std::string> remarks, plain;
  for (const auto* file : files) {
    const std::string path = shown(file->path), what = meant(*file);
    if (what.empty()) {
      plain.push_back("extra: " + path);
      continue;
    }
    remarks.push_back("extra: " + path + " (" + what + ")");
    if (uncounted.size() < most_extra) uncounted.push_back({path, what});
  }
  remarks.insert(remarks.end(), plain.begin(), plain.end());
  if (remarks.size() > most_extra) {
    const std::size_t more = remarks.size() - most_extra;
    remarks.resize(most_extra);
    remarks.push_back("and " + std::to_string(more) + " more extra files");
  }
  return remarks;
}

void limit_remarks(std::vector<std::string>& remarks) {
  if (remarks.size() <= most_remarks) return;
  const std::size_t more = remarks.size() - most_remarks;
  remarks.resize(most_remarks);
  remarks.push_back("and " + std::to_string(more) + " more remarks");
}

}  // namespace

void choose(const Tree& tree, const std::vector<Lab>& labs, Collected& collected) {
  // What is wrong comes first: a report shows the first few.
  std::vector<std::string> refused, twice, missing, none;  // none: labs without any file
  std::map<std::pair<const Lab*, std::string>, std::pair<Place, const TreeFile*>> chosen;
  const auto consider = [&](const Place& place, const TreeFile& file) {
    auto [taken, first] = chosen.try_emplace({place.lab, place.file}, place, &file);
    if (first) return;
    const TreeFile* other = &file;
    if (place.depth < taken->second.first.depth) {
      other = taken->second.second;
      taken->second = {place, &file};
    }
    // Once in a folder and once beside it, letter by letter the same: nothing to say.
    if (other->problem.empty() && other->bytes == taken->second.second->bytes) return;
    twice.push_back("lab" + std::to_string(place.lab->id) +
                    " is there twice: " + shown(taken->second.second->path) + " is taken, " +
                    shown(other->path) + " is not");
  };
  std::vector<const TreeFile*> others;
  for (const auto& file : tree.files) {
    Place place = place_by_folder(file.path, labs);
    // Only what could be read, and never instead of what is in its folder, is known by its text.
    if (!place.lab && file.problem.empty()) place = place_by_text(file, labs);
    if (place.lab && (file.problem.empty() || !place.loose)) {
      consider(place, file);
    } else if (!file.problem.empty()) {
      refused.push_back(shown(file.path) + ": " + printable(file.problem));
    } else {
      others.push_back(&file);
    }
  }
  const auto handed_in = [&](const Lab& lab, const std::string& name) {
    return chosen.find({&lab, name}) != chosen.end();
  };
  std::vector<std::string> extras = extra_files(
      others, [&](const TreeFile& file) { return meant(file, labs, handed_in); },
      collected.uncounted);

  std::string all;
  for (const auto& lab : labs) {
    const auto files = lab.files();
    if (std::none_of(files.begin(), files.end(),
                     [&](const std::string& name) { return handed_in(lab, name); })) {
      none.push_back("lab" + std::to_string(lab.id));
      continue;
    }
    for (const auto& name : files) {
      const auto found = chosen.find({&lab, name});
      const std::string wanted = lab.name + "/" + name;
      if (found == chosen.end()) {
        missing.push_back("lab" + std::to_string(lab.id) + "/" + name);
        continue;
      }
      const TreeFile& file = *found->second.second;
      if (!file.problem.empty()) {
        collected.remarks.push_back(shown(file.path) + ": " + printable(file.problem));
        continue;
      }
      all += lab.name + '\0' + name + '\0' + std::to_string(file.bytes.size()) + '\0' + file.bytes;
      collected.sources[lab.name][name] = file.bytes;
      collected.origins[wanted] = file.path;
    }
  }
  collected.remarks.insert(collected.remarks.end(), tree.remarks.begin(), tree.remarks.end());
  // Who has handed nothing in is told so: a list of all that there is says no more.
  if (collected.sources.empty())
    missing.clear();
  else
    missing.insert(missing.end(), none.begin(), none.end());
  if (!missing.empty()) missing = {fmt::format("missing: {}", fmt::join(missing, ", "))};
  for (const auto* some : {&refused, &twice, &missing, &extras})
    collected.remarks.insert(collected.remarks.end(), some->begin(), some->end());
  collected.sha256 = sha256(all);
}

Collected Intake::collect(const Submission& student, const std::vector<Lab>& labs) const {
  Collected collected;
  collected.remarks = student.problems;
  Tree tree;
  for (const auto& part : student.parts) {
    Tree one;
    if (source_) {
      one = source_->tree(part.entry);
    } else {
      try {
        one = tree_of_repository(part.entry, store_, unpack_);
      } catch (const InfraError& error) {
        collected.unreachable = "cannot fetch " + shown(part.entry) + ": " + error.what();
      }
    }
    for (auto& file : one.files) {
      // What the platform made of the student's name for the file is taken back.
      if (!part.file.empty() && file.path.compare(0, part.entry.size(), part.entry) == 0)
        file.path = part.file + file.path.substr(part.entry.size());
      tree.files.push_back(std::move(file));
    }
    tree.remarks.insert(tree.remarks.end(), one.remarks.begin(), one.remarks.end());
  }
  choose(tree, labs, collected);
  if (collected.sources.empty())
    collected.remarks.insert(collected.remarks.begin(),
                             student.parts.empty()
                                 ? "no submission: nothing was handed in as a file"
                                 : "no submission: none of the labs' files found");
  limit_remarks(collected.remarks);
  return collected;
}

}  // namespace grader::intake
