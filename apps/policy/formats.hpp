// The readers behind open_trace, and how their formats are told apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apps/policy/reader.hpp"

namespace holdall::lab {

// binary.cpp: records of one length. Null where `format` is none of them.
std::unique_ptr<Reader> binary_reader(std::unique_ptr<Input>& input, const std::string& format);
std::optional<std::string> detect_binary(std::string_view begin);

// text.cpp: a request a line. Null where `format` is none of them.
std::unique_ptr<Reader> text_reader(std::unique_ptr<Input>& input, const std::string& format,
                                    const ReadOptions& options);
// csv.cpp: columns with names.
std::unique_ptr<Reader> csv_reader(std::unique_ptr<Input>& input, const ReadOptions& options);
// `more`: the text goes on behind what is shown.
std::optional<std::string> detect_text(std::string_view begin, bool more);
bool names_columns(std::string_view line);  // is a csv's first line

// number.cpp: words of a line. A word that is no number is none.
std::optional<std::uint64_t> whole_number(std::string_view word);
std::uint64_t nanoseconds(double seconds);
std::uint64_t hash_of(std::string_view word);
// The kind of TraceRecord that a word such as "get", "SET" or "2a" means; none if it means none.
std::optional<std::uint8_t> kind_of(std::string_view word);

}  // namespace holdall::lab
