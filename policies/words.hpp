// Words for messages: "Did you mean ...? There are ...".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdall::policies {

// The word of `words` with the fewest letters to insert, delete, replace or swap with a neighbour,
// upper and lower case being the same; empty if even that one is another word altogether.
std::string nearest(std::string_view word, std::span<const std::string> words);

// "a, b, c", or "none".
std::string list_of(std::span<const std::string> words);

std::string in_quotes(std::string_view word);  // 'word'

// "no policy 'lur'. Did you mean 'lru'? There are ..."
std::string unknown(std::string_view kind, std::string_view word,
                    std::span<const std::string> words, std::string_view there_are);

}  // namespace holdall::policies
