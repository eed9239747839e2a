// A server on a socket, with clients that behave and clients that do not.
#include <atomic>

#include "tests/serve/world.hpp"

namespace holdall::serve {
namespace {

using std::chrono::milliseconds;

// The version that all rows of a binary answer are of; -1 if they are not of one, or not of `keys`.
int version_of(const std::string& answer, std::size_t json_length,
               const std::vector<std::int64_t>& keys) {
  const std::vector<float> rows = floats_of(std::string_view(answer).substr(json_length));
  if (rows.size() != keys.size() * dim || rows.empty()) return -1;
  const auto version = static_cast<int>(rows[0] / 1000);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != element(static_cast<std::uint64_t>(keys[i / dim]), version, i % dim)) return -1;
  return version;
}

httplib::Headers binary_headers(const Binary& body) {
  return {{"Inference-Header-Content-Length", std::to_string(body.json_length)}};
}

int ask_version(httplib::Client& client, const std::vector<std::int64_t>& keys) {
  const Binary body = binary_keys(keys);
  const auto answer =
      client.Post(infer_path, binary_headers(body), body.body, "application/octet-stream");
  if (!answer || answer->status != 200) return -1;
  return version_of(answer->body,
                    std::stoul(answer->get_header_value("Inference-Header-Content-Length")), keys);
}

TEST_F(Serving, metadata_health_and_metrics_are_there) {
  start();
  auto client = this->client();
  const auto json = [&](const char* path) {
    const auto answer = client.Get(path);
    EXPECT_TRUE(answer && answer->status == 200) << path;
    return answer ? nlohmann::json::parse(answer->body) : nlohmann::json();
  };
  EXPECT_EQ(json("/v2")["name"], "holdall");
  EXPECT_EQ(json("/v2/health/live")["live"], true);
  EXPECT_EQ(json("/v2/health/ready")["ready"], true);
  EXPECT_EQ(json("/v2/models/items/ready")["ready"], true);
  EXPECT_EQ(json("/v2/models/items/versions/1")["outputs"][0]["shape"],
            nlohmann::json::parse("[-1,4]"));
  EXPECT_EQ(ask_version(client, {1, 2}), 0);
  const auto metrics = client.Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_NE(metrics->body.find("holdall_requests_total{model=\"items\",outcome=\"answered\"} 1"),
            std::string::npos)
      << metrics->body;
  EXPECT_NE(metrics->body.find("holdall_table_rows{model=\"items\"} 64"), std::string::npos);
}

TEST_F(Serving, bags_come_as_json) {
  start();
  auto client = this->client();
  const auto answer = client.Post(
      infer_path,
      R"({"id":"7","inputs":[{"name":"indices","datatype":"INT64","shape":[3],"data":[1,2,3]},)"
      R"({"name":"offsets","datatype":"INT64","shape":[2],"data":[0,2]}]})",
      "application/json");
  ASSERT_TRUE(answer && answer->status == 200);
  const auto json = nlohmann::json::parse(answer->body);
  EXPECT_EQ(json["id"], "7");
  EXPECT_EQ(json["outputs"][0]["name"], "pooled");
  EXPECT_EQ(json["outputs"][0]["data"], nlohmann::json::parse("[30,32,34,36,30,31,32,33]"));
}

TEST_F(Serving, what_is_not_there_is_404_and_what_is_wrong_400) {
  start();
  auto client = this->client();
  const auto status = [&](const auto& answer) { return answer ? answer->status : -1; };
  EXPECT_EQ(status(client.Get("/v2/models/users")), 404);
  EXPECT_NE(client.Get("/v2/models/users")->body.find("there are items"), std::string::npos);
  EXPECT_EQ(status(client.Get("/v2/models/items/versions/9")), 404);
  EXPECT_EQ(status(client.Get("/elsewhere")), 404);
  EXPECT_EQ(status(client.Get(infer_path.c_str())), 405);
  EXPECT_EQ(status(client.Post("/v2/models/users/infer", "{}", "application/json")), 404);
  EXPECT_EQ(status(client.Post(infer_path, "{", "application/json")), 400);
  EXPECT_EQ(status(client.Post("/v2/repository/models/items/unload")), 400);
  EXPECT_EQ(ask_version(client, {5}), 0);  // on the same connection
}

TEST_F(Serving, a_method_that_a_path_has_not_is_405_and_told_which_it_has) {
  start();
  auto client = this->client();
  const auto allowed = [](const httplib::Result& answer) {
    return answer && answer->status == 405 ? answer->get_header_value("Allow") : "";
  };
  EXPECT_EQ(allowed(client.Delete("/v2/models/items")), "GET, HEAD");
  EXPECT_EQ(allowed(client.Put("/metrics", "text", "text/plain")), "GET, HEAD");
  EXPECT_EQ(allowed(client.Post("/metrics", "text", "text/plain")), "GET, HEAD");
  EXPECT_EQ(allowed(client.Patch("/v2/health/ready", "", "text/plain")), "GET, HEAD");
  EXPECT_EQ(allowed(client.Options(infer_path.c_str())), "POST");
  EXPECT_EQ(allowed(client.Get("/v2/repository/models/items/load")), "POST");
  EXPECT_EQ(client.Delete("/elsewhere")->status, 404);
  const auto head = client.Head("/v2/health/ready");
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(ask_version(client, {5}), 0);  // on the same connection
}

TEST_F(Serving, a_post_without_a_body_needs_no_length) {
  start();
  RawClient client(port());
  folder_.write_table(1);
  ASSERT_TRUE(client.send("POST /v2/repository/models/items/load HTTP/1.1\r\nHost: here\r\n\r\n"));
  const std::string loaded = client.answer();
  EXPECT_TRUE(loaded.starts_with("HTTP/1.1 200")) << loaded;
  ASSERT_TRUE(client.send("POST " + infer_path + " HTTP/1.1\r\nHost: here\r\n\r\n"));
  const std::string nothing = client.answer();
  EXPECT_TRUE(nothing.starts_with("HTTP/1.1 400")) << nothing;
  EXPECT_NE(nothing.find("has no body"), std::string::npos) << nothing;
  ASSERT_TRUE(client.send(post(infer_path, json_keys({1}).dump())));
  EXPECT_NE(client.answer().find("[1010,1011,1012,1013]"), std::string::npos);
}

TEST_F(Serving, a_body_above_the_limit_is_413_and_one_in_chunks_411) {
  start({.body = 1000});
  RawClient big(port());
  ASSERT_TRUE(
      big.send("POST " + infer_path + " HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n"));
  std::string answer = big.rest();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 413")) << answer;
  EXPECT_NE(answer.find("1001 bytes, 1000 are read"), std::string::npos) << answer;
  RawClient chunked(port());
  ASSERT_TRUE(chunked.send("POST " + infer_path +
                           " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"));
  answer = chunked.rest();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 411")) << answer;
}

TEST_F(Serving, a_token_is_asked_for_but_not_by_probes) {
  start({}, {}, "secret");
  auto client = this->client();
  EXPECT_EQ(client.Get("/v2/health/ready")->status, 200);
  EXPECT_EQ(client.Get("/v2")->status, 401);
  EXPECT_EQ(client.Get("/metrics")->status, 401);
  EXPECT_EQ(client.Get("/v2", {{"Authorization", "Bearer secre"}})->status, 401);
  EXPECT_EQ(client.Get("/v2", {{"Authorization", "Bearer secret"}})->status, 200);
  EXPECT_EQ(client.Post("/v2/repository/models/items/load")->status, 401);
}

TEST_F(Serving, garbage_is_400_and_others_are_served) {
  start({.request = milliseconds(200)});
  const std::string good = post(infer_path, json_keys({1}).dump());
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    std::string bytes = good;
    for (int n = 0; n < 1 + round % 8; ++n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    RawClient client(port());
    ASSERT_TRUE(client.connected());
    (void)client.send(bytes);
    if (round % 2 == 0) client.close();
  }
  RawClient client(port());
  ASSERT_TRUE(client.send("\x16\x03\x01 hello\r\n\r\n"));
  EXPECT_TRUE(client.rest().starts_with("HTTP/1.1 400"));
  auto polite = this->client();
  EXPECT_EQ(ask_version(polite, {1}), 0);
}

TEST_F(Serving, who_stalls_is_cut_off_and_holds_nobody_up) {
  start({.request = milliseconds(100), .silence = milliseconds(100)});
  RawClient head(port()), body(port()), silent(port());
  ASSERT_TRUE(head.send("POST " + infer_path + " HTTP/1.1\r\nHost:"));
  const std::string whole = post(infer_path, json_keys({1}).dump());
  ASSERT_TRUE(body.send(whole.substr(0, whole.size() - 5)));
  auto polite = this->client();
  EXPECT_EQ(ask_version(polite, {1}), 0);
  const std::string answer = body.rest();  // ends, since the server gives up
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 408")) << answer;
  (void)head.rest();
  EXPECT_EQ(silent.rest(), "");
}

TEST_F(Serving, who_hangs_up_early_costs_nothing) {
  start();
  const Binary body = binary_keys({1, 2, 3});
  const std::string request =
      post(infer_path, body.body,
           "Inference-Header-Content-Length: " + std::to_string(body.json_length) + "\r\n");
  for (int round = 0; round < 50; ++round) {
    RawClient client(port());
    ASSERT_TRUE(client.send(request));
  }
  while (service_->connections > 0) std::this_thread::yield();
  auto polite = this->client();
  EXPECT_EQ(ask_version(polite, {1}), 0);
}

TEST_F(Serving, requests_sent_at_once_are_answered_in_order) {
  start();
  RawClient client(port());
  ASSERT_TRUE(client.send(post(infer_path, json_keys({1}).dump()) +
                          post(infer_path, json_keys({2}).dump())));
  EXPECT_NE(client.answer().find("[10,11,12,13]"), std::string::npos);
  EXPECT_NE(client.answer().find("[20,21,22,23]"), std::string::npos);
}

TEST_F(Serving, connections_beyond_the_limit_get_503) {
  start({.connections = 2});
  RawClient one(port()), two(port());
  for (RawClient* const client : {&one, &two}) {
    ASSERT_TRUE(client->send("GET /v2/health/live HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_TRUE(client->answer().starts_with("HTTP/1.1 200"));
  }
  RawClient three(port());
  const std::string answer = three.rest();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503")) << answer;
  EXPECT_NE(answer.find("2 connections are open already"), std::string::npos);
  ASSERT_TRUE(one.send("GET /v2/health/live HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_TRUE(one.answer().starts_with("HTTP/1.1 200"));
}

TEST_F(Serving, overload_is_503_and_every_other_answer_right) {
  start({}, {.batch = {.queue = 1}});
  std::atomic<int> right{0}, refused{0}, wrong{0};
  {
    std::vector<std::jthread> clients;
    for (int t = 0; t < 8; ++t)
      clients.emplace_back([&] {
        auto client = this->client();
        const Binary body = binary_keys({7, 8});
        for (int i = 0; i < 100; ++i) {
          const auto answer =
              client.Post(infer_path, binary_headers(body), body.body, "application/octet-stream");
          if (!answer)
            ++wrong;
          else if (answer->status == 503)
            refused += answer->get_header_value("Retry-After") == "1";
          else
            ++(answer->status == 200 ? right : wrong);
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(right + refused, 800);
  EXPECT_GT(right, 0);
}

TEST_F(Serving, a_table_over_several_devices_is_answered_by_all_of_them) {
  devices_ = 3;
  start();
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> clients;
    for (std::int64_t t = 0; t < 8; ++t)
      clients.emplace_back([&, t] {
        auto client = this->client();
        for (int i = 0; i < 50; ++i) wrong += ask_version(client, {t, t + 50}) != 0;
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(Serving, versions_are_swapped_under_load_and_a_bad_one_leaves_the_old) {
  start();
  std::atomic<bool> end{false};
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> clients;
    for (int t = 0; t < 3; ++t)
      clients.emplace_back([&] {
        auto client = this->client();
        int newest = 0;
        while (!end) {
          const int version = ask_version(client, {1, 63, 5});
          wrong += version < newest;
          newest = version;
        }
      });
    auto admin = client();
    for (int version = 1; version <= 8; ++version) {
      folder_.write_table(static_cast<std::uint64_t>(version));
      const auto loaded = admin.Post("/v2/repository/models/items/load");
      EXPECT_TRUE(loaded && loaded->status == 200) << (loaded ? loaded->body : "nothing");
      EXPECT_EQ(ask_version(admin, {9}), version);
      folder_.write("items.npy", "no table");
      const auto bad = admin.Post("/v2/repository/models/items/load");
      EXPECT_TRUE(bad && bad->status == 400);
      if (bad) {
        EXPECT_NE(bad->body.find("stays"), std::string::npos);
      }
      EXPECT_EQ(ask_version(admin, {9}), version);
    }
    end = true;
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(Serving, stopping_loses_no_request) {
  start();
  std::atomic<int> answered{0}, lost{0};
  std::vector<std::jthread> clients;
  const Binary body = binary_keys({1, 2, 3});
  const std::string request =
      post(infer_path, body.body,
           "Inference-Header-Content-Length: " + std::to_string(body.json_length) + "\r\n");
  for (int t = 0; t < 6; ++t)
    clients.emplace_back([&] {
      RawClient client(port());
      while (client.send(request)) {
        const std::string answer = client.answer();
        ++(answer.starts_with("HTTP/1.1 200") ? answered : lost);
        if (answer.empty() || answer.find("Connection: close") != std::string::npos) return;
      }
    });
  while (answered < 100) std::this_thread::yield();
  stop();
  clients.clear();
  EXPECT_EQ(lost, 0);
  EXPECT_FALSE(RawClient(port()).connected());
}

}  // namespace
}  // namespace holdall::serve
