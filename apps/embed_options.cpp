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
  command
      .add_option("--cold-type", spec.cold_type,
                  "of the rows in host memory, narrower: more fit, but they are rounded")
      ->transform(CLI::CheckedTransformer(row_types()));
  command
      .add_option("--nan", spec.not_a_number,
                  "what is done with values that are no number: allow, refuse or zero")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, NotANumber>{{"allow", NotANumber::allow},
                                                                    {"refuse", NotANumber::refuse},
                                                                    {"zero", NotANumber::zero}}));
  command
      .add_option("--duplicates", spec.duplicates,
                  "of keys that a source has twice: the last counts, or refuse")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Duplicates>{
          {"last", Duplicates::last}, {"refuse", Duplicates::refuse}}));
}

}  // namespace holdall::apps
