// Memory that libraries of others lose: the leak sanitizer, which asks for this list, need not tell.

extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): its name for it

// CoinUtils loses arrays of a presolve that ends early.
extern "C" const char* __lsan_default_suppressions() { return "leak:libCoinUtils\n"; }
