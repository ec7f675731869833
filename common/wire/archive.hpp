// Turns typed values into bytes, and back, even if a hostile process made the bytes.
//
// A message is an aggregate that lists its fields:
//
//     struct Launch {
//       Dim3 grid, block;
//       std::string kernel;
//       template <typename Visit>
//       void fields(Visit visit) { visit(grid, block, kernel); }
//     };
//     template <typename Visit>  // in the namespace of a type that cannot be changed
//     void fields(Dim3& x, Visit visit) { visit(x.x, x.y, x.z); }
//
// An enum that travels starts at 0, has no gaps, and names its last value in the same way:
//
//     constexpr Colour last_of(Colour) { return Colour::violet; }
//
// Not std::tie: tuples of twenty references took a quarter of the compile time of a protocol's users.
// One list drives both directions, so the two cannot drift apart. Fields are numbers, enums, bool,
// std::string, std::vector, std::array, std::optional, std::map, and whatever lists fields itself.
//
// On the wire, in memory order (both ends are one machine): numbers and enums as they lie in
// memory; bool as one byte, 0 or 1; string, vector and map as a count of 4 bytes and their
// elements; optional as a bool and the value; nothing in between.
//
// Whatever the bytes are, decode() gives a value that the type can hold or throws wire::Error: no
// byte is read beyond the end, no enum leaves its range, no bool has another pattern, and memory
// grows with what was read, never with a count that somebody claims. C++17, the standard library
// alone: what is linked with students' programs and what nvcc compiles reads this file too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace wire {

using Bytes = std::vector<std::byte>;

/// The bytes are no such message: what() names the message, the place in it, and what is wrong.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Vectors of these are copied as a whole. Structs of numbers without padding can join:
///     template <>
///     inline constexpr bool wire::plain<Launch> = true;
template <typename T>
constexpr bool plain =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, std::byte>;

class Writer {
 public:
  static constexpr bool reading = false;
  Bytes bytes;

  void raw(const void* data, std::size_t size) {
    const auto* const from = static_cast<const std::byte*>(data);
    if (size > 0) bytes.insert(bytes.end(), from, from + size);
  }
  std::size_t count(std::size_t size) {
    if (size > UINT32_MAX) throw Error("a message of this program's own is too long");
    const auto four = static_cast<std::uint32_t>(size);
    raw(&four, sizeof four);
    return size;
  }
};

class Reader {
 public:
  static constexpr bool reading = true;
  /// `what` names the message in errors; it and the bytes must outlive the Reader.
  Reader(const std::byte* data, std::size_t size, const char* what)
      : data_(data), size_(size), what_(what) {}

  void raw(void* to, std::size_t size) {
    if (size > left()) fail("ends too early");
    if (size > 0) std::memcpy(to, data_ + at_, size);
    at_ += size;
  }
  /// How many elements follow, each of them at least `smallest` bytes.
  std::size_t count(std::size_t smallest) {
    std::uint32_t four = 0;
    raw(&four, sizeof four);
    if (four > left() / smallest) fail("claims " + std::to_string(four) + " elements");
    return four;
  }
  std::size_t left() const { return size_ - at_; }
  void done() const {
    if (left() > 0) fail("has " + std::to_string(left()) + " bytes to spare");
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(std::string(what_) + " " + why + ", at byte " + std::to_string(at_) + " of " +
                std::to_string(size_));
  }

 private:
  const std::byte* data_;
  std::size_t size_, at_ = 0;
  const char* what_;
};

template <typename Archive, typename T>
void field(Archive& ar, T& value);

namespace detail {

template <typename Archive, typename T>
void number(Archive& ar, T& value) {
  ar.raw(&value, sizeof value);
  if constexpr (Archive::reading && std::is_enum_v<T>) {
    using Number = std::make_unsigned_t<std::underlying_type_t<T>>;
    if (static_cast<Number>(value) > static_cast<Number>(last_of(T{})))
      ar.fail("holds no value of an enum");
  }
}

template <typename Archive>
void truth(Archive& ar, bool& value) {
  std::uint8_t byte = value ? 1 : 0;
  ar.raw(&byte, sizeof byte);
  if constexpr (Archive::reading) {
    if (byte > 1) ar.fail("holds a bool that is neither true nor false");
    value = byte == 1;
  }
}

/// A string, or a vector whose elements are copied as a whole.
template <typename Archive, typename T>
void block(Archive& ar, T& value) {
  constexpr std::size_t each = sizeof(typename T::value_type);
  if constexpr (Archive::reading)
    value.resize(ar.count(each));
  else
    ar.count(value.size());
  ar.raw(value.data(), value.size() * each);
}

template <typename Archive, typename T>
void elements(Archive& ar, std::vector<T>& value) {
  if constexpr (Archive::reading) {
    value.clear();
    for (std::size_t left = ar.count(1); left > 0; --left) field(ar, value.emplace_back());
  } else {
    ar.count(value.size());
    for (T& one : value) field(ar, one);
  }
}

template <typename Archive, typename Key, typename Value>
void elements(Archive& ar, std::map<Key, Value>& value) {
  if constexpr (Archive::reading) {
    value.clear();
    for (std::size_t left = ar.count(1); left > 0; --left) {
      std::pair<Key, Value> one{};
      field(ar, one.first);
      field(ar, one.second);
      value.insert(std::move(one));
    }
  } else {
    ar.count(value.size());
    for (auto& [key, mapped] : value) {
      Key copy = key;
      field(ar, copy);
      field(ar, mapped);
    }
  }
}

template <typename Archive, typename T>
void maybe(Archive& ar, std::optional<T>& value) {
  bool there = value.has_value();
  truth(ar, there);
  if constexpr (Archive::reading) value = there ? std::optional<T>(T{}) : std::nullopt;
  if (there) field(ar, *value);
}

template <typename T>
constexpr bool is_vector = false;
template <typename T>
constexpr bool is_vector<std::vector<T>> = true;
template <typename T>
constexpr bool is_map = false;
template <typename Key, typename Value>
constexpr bool is_map<std::map<Key, Value>> = true;
template <typename T>
constexpr bool is_optional = false;
template <typename T>
constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
constexpr bool is_array = std::is_array_v<T>;
template <typename T, std::size_t N>
constexpr bool is_array<std::array<T, N>> = true;

struct Ignore {
  template <typename... T>
  void operator()(T&...) const {}
};
template <typename T, typename = void>
constexpr bool lists_fields = false;
template <typename T>
constexpr bool lists_fields<T, std::void_t<decltype(std::declval<T&>().fields(Ignore{}))>> = true;

template <typename T>
constexpr bool copied_whole() {
  if constexpr (is_vector<T>) {
    using Item = typename T::value_type;
    static_assert(!plain<Item> || std::is_floating_point_v<Item> ||
                  std::has_unique_object_representations_v<Item>);
    return plain<Item>;
  } else
    return std::is_same_v<T, std::string>;
}

}  // namespace detail

template <typename Archive, typename T>
void field(Archive& ar, T& value) {
  if constexpr (std::is_same_v<T, bool>)
    detail::truth(ar, value);
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
    detail::number(ar, value);
  else if constexpr (detail::copied_whole<T>())
    detail::block(ar, value);
  else if constexpr (detail::is_vector<T> || detail::is_map<T>)
    detail::elements(ar, value);
  else if constexpr (detail::is_optional<T>)
    detail::maybe(ar, value);
  else if constexpr (detail::is_array<T>)
    for (auto& one : value) field(ar, one);
  else if constexpr (detail::lists_fields<T>)
    value.fields([&ar](auto&... one) { (field(ar, one), ...); });
  else
    fields(value, [&ar](auto&... one) { (field(ar, one), ...); });
}

template <typename T>
Bytes encode(const T& value) {
  Writer writer;
  field(writer, const_cast<T&>(value));  // a Writer only reads
  return std::move(writer.bytes);
}

/// Throws Error. `what` names the message in its text: "a reply".
template <typename T>
T decode(const Bytes& bytes, const char* what = "a message") {
  T value{};
  Reader reader(bytes.data(), bytes.size(), what);
  field(reader, value);
  reader.done();
  return value;
}

}  // namespace wire
