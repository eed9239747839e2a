#include "apps/embed_options.hpp"


namespace holdall::apps {

using namespace holdall::embedding;  // NOLINT: this file is about embeddings

const std::map<std::string, RowType>& row_types() {
  static const std::map<std::string, RowType> types = {{"fp32", RowType::fp32},
                                                       {"fp16", RowType::fp16},
                                                       {"bf16", RowType::bf16},
                                                       {"int8", RowType::int8}};
  return types;
}

void add_row_options(CLI::App& command, TableSpec& spec) {
  add_choice(command, "--cold-type", spec.cold_type, row_types(),
             "of the rows in host memory, narrower: more fit, but they are rounded");
  add_choice<NotANumber, NotANumber>(
      command, "--nan", spec.not_a_number,
      {{"allow", NotANumber::allow}, {"refuse", NotANumber::refuse}, {"zero", NotANumber::zero}},
      "what is done with values that are no number");
  add_choice<Duplicates, Duplicates>(command, "--duplicates", spec.duplicates,
                                     {{"last", Duplicates::last}, {"refuse", Duplicates::refuse}},
                                     "of keys that a source has twice: the last counts, or refuse");
}

}  // namespace holdall::apps
