// The door: sockets, the token, and who may ask.
#include "base/try.h"
#include "present/page/page.h"
#include "serve/api.h"

#include <monet/serve.h>

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <thread>

namespace monet {

namespace {

using serving::Api;
using serving::ApiRequest;
using serving::ApiResponse;

constexpr std::size_t connections = 64;
constexpr int most_waiting = 512;

std::string new_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

// As long for every guess.
bool same(std::string_view a, std::string_view b) {
  unsigned different = a.size() != b.size();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

void refuse(httplib::Response& response, int status, const char* message, const char* advice) {
  ApiResponse refused = serving::response_of({.message = message, .place = "monet serve", .advice = advice});
  response.status = status;
  response.set_content(refused.body, refused.type.c_str());
}

class Door {
 public:
  Door(const ServeOptions& options, Api& api) : options_(options), api_(api), token_(new_token()) {
    server_.set_payload_max_length(static_cast<std::size_t>(options.most_upload_bytes));
    server_.new_task_queue = [] { return new httplib::ThreadPool(connections); };
    server_.set_keep_alive_timeout(2);
    // Not the library's own SO_REUSEPORT, with which two servers would share a port.
    server_.set_socket_options([this](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
      socket_ = socket;
    });
    server_.set_default_headers(
        {{"X-Content-Type-Options", "nosniff"},
         {"Referrer-Policy", "no-referrer"},
         {"Cache-Control", "no-store"},
         {"Content-Security-Policy",
          "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
          "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'"}});
    server_.set_pre_routing_handler([this](const auto& request, auto& response) { return admit(request, response); });
    server_.Get("/", [](const auto&, auto& response) {
      response.set_content(std::string(serve_template()), "text/html; charset=utf-8");
    });
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      ask(request, response);
    };
    server_.Get("/api/.*", answer);
    server_.Post("/api/.*", answer);
    server_.set_error_handler([](const auto& request, auto& response) {
      if (!response.body.empty()) return;
      if (response.status == 413)
        return refuse(response, 413, "the file is too large", "monet serve --most-upload takes larger ones");
      refuse(response, response.status, request.path.c_str(), "there is nothing at this address");
    });
    server_.set_exception_handler([](const auto&, auto& response, std::exception_ptr) {
      refuse(response, 500, "the server could not answer this", "please report it");
    });
  }

  Status run() {
    const int port = options_.port == 0 ? server_.bind_to_any_port(options_.host.c_str())
                     : server_.bind_to_port(options_.host.c_str(), options_.port) ? options_.port
                                                                                  : -1;
    if (port <= 0)
      return Error{.message = fmt::format("cannot listen on {}:{}", options_.host, options_.port),
                   .place = "monet serve",
                   .advice = "another program may have that port; --port 0 takes any that is free"};
    listen(socket_, most_waiting);  // the library lets five wait, and turns others away
    const bool is_six = options_.host.find(':') != std::string::npos;
    for (const std::string& name : {is_six ? "[" + options_.host + "]" : options_.host, std::string("127.0.0.1"),
                                    std::string("localhost"), std::string("[::1]")})
      hosts_.push_back(fmt::format("{}:{}", name, port));
    for (const std::string& name : options_.names) hosts_.push_back(name);
    std::thread watcher([this, port] {
      while (!server_.is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (options_.ready && !ended_) options_.ready(fmt::format("http://{}/?token={}", shown_host(port), token_));
      while (!ended_ && !(options_.stop && options_.stop()))
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      server_.stop();
    });
    const bool listened = server_.listen_after_bind();
    ended_ = true;
    watcher.join();
    if (listened) return Done{};
    return Error{.message = "cannot go on listening", .place = "monet serve", .advice = "start it again"};
  }

 private:
  // What stands for every address of this machine cannot be asked.
  std::string shown_host(int port) const {
    if (options_.host != "0.0.0.0" && options_.host != "::") return hosts_.front();
    return options_.names.empty() ? fmt::format("127.0.0.1:{}", port) : options_.names.front();
  }

  // Pages of other sites can send requests here: what they cannot have is the token, nor our names for Host and Origin.
  httplib::Server::HandlerResponse admit(const httplib::Request& request, httplib::Response& response) {
    using enum httplib::Server::HandlerResponse;
    const std::string host = request.get_header_value("Host");
    if (std::ranges::find(hosts_, host) == hosts_.end()) {
      refuse(response, 421, "this server has another name",
             "use the URL that it printed, or tell it this name (--name)");
      return Handled;
    }
    const std::string origin = request.get_header_value("Origin");
    if (!origin.empty() && std::ranges::none_of(hosts_, [&](const std::string& known) {
          return origin == "http://" + known || origin == "https://" + known;
        })) {
      refuse(response, 403, "a page of another site asks", "use the URL that it printed");
      return Handled;
    }
    const std::string given = request.has_header("X-Monet-Token") ? request.get_header_value("X-Monet-Token")
                                                                  : request.get_param_value("token");
    if (same(given, token_)) return Unhandled;
    refuse(response, 401, "the token is missing or wrong", "use the URL that it printed");
    return Handled;
  }

  void ask(const httplib::Request& request, httplib::Response& response) {
    ApiRequest question{.method = request.method, .path = request.path, .body = request.body};
    for (const auto& [name, value] : request.params) question.query.emplace(name, value);
    ApiResponse answer = api_.handle(question);
    response.status = answer.status;
    response.set_content(std::move(answer.body), answer.type.c_str());
  }

  const ServeOptions& options_;
  Api& api_;
  std::string token_;
  std::vector<std::string> hosts_;
  socket_t socket_ = 0;
  httplib::Server server_;
  std::atomic<bool> ended_ = false;
};

}  // namespace

Status serve(const ServeOptions& options) {
  if (serve_template().empty())
    return Error{
        .message = "this program was built without pages", .place = "monet serve", .advice = "build it with npm"};
  MONET_TRY(serving::ServeFolder folder, serving::ServeFolder::open(options.folder));
  MONET_TRY(serving::Runs runs, serving::Runs::open(folder.history()));
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  Api api(std::move(folder), std::move(runs), options.jobs > 0 ? options.jobs : cores);
  return Door(options, api).run();
}

}  // namespace monet
