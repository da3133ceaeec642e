// What the page asks the server, address by address; knows nothing of sockets.
#pragma once

#include "serve/work.h"

#include <monet/hardware.h>

#include <map>
#include <semaphore>
#include <string>

namespace monet::serving {

struct ApiRequest {
  std::string method;  // GET, POST
  std::string path;    // "/api/runs/3"
  std::map<std::string, std::string> query;
  std::string body;
};

struct ApiResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

// May be asked by several threads; as many evaluations run at once as `threads`.
//
// GET  /api/networks: built-in ones. POST ?name=N with an ONNX file: {"network": "upload:…"}
// GET  /api/machines: presets; /api/machines/NAME: its text. POST with a text: what it is, or the mistake in it
// GET  /api/spaces, /api/recipes
// POST /api/evaluate, a question (question.h): {"run": 3, "result": {…}}; ?keep=no: not in the history
// GET  /api/runs: the history; /api/runs/N, …/page, …/plan. /api/compare?a=N&b=M
// GET  /api/jobs; /api/jobs/N: its front so far. POST: a question in the background: {"job": 2};
// POST /api/jobs/N/stop, …/pause, …/resume
class Api {
 public:
  Api(ServeFolder folder, Runs runs, std::ptrdiff_t threads);
  ApiResponse handle(const ApiRequest& request);

 private:
  Expected<ApiResponse> route(const ApiRequest& request);
  Expected<ApiResponse> machines(const ApiRequest& request, const std::string& name);
  Expected<ApiResponse> networks(const ApiRequest& request);
  Expected<ApiResponse> evaluate(const ApiRequest& request);
  Expected<ApiResponse> runs(const std::string& id, const std::string& part);
  Expected<ApiResponse> compare(const ApiRequest& request);
  Expected<ApiResponse> job(std::int64_t id);
  Expected<ApiResponse> jobs(const ApiRequest& request, const std::string& id, const std::string& part);

  ServeFolder folder_;
  Runs runs_;
  MappingCache cache_{100000};
  std::counting_semaphore<> free_;
  Jobs jobs_;
};

// {"error": {"message", "place", "advice"}}: 400 for what was asked, 422 for what has no answer, 500 for a defect.
ApiResponse response_of(const Error& error);

}  // namespace monet::serving
