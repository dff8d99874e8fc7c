workloads = {
  collector = {
    release  = "4.2.0"
    port     = 8443
    replicas = 3
    calls    = ["verifier"]
    settings = { BATCH = "500", FLUSH_SECONDS = "5" }
    secrets  = ["ingest-token"]
  }
  verifier = {
    release  = "2.9.1"
    port     = 9000
    calls    = ["billing"]
    settings = { RULES = "strict" }
    secrets  = ["signing-key"]
  }
  billing = {
    release  = "7.0.3"
    port     = 8080
    calls    = ["collector", "verifier"]
    settings = { CURRENCY = "EUR", ROUNDING = "half-even" }
    secrets  = ["bank-client", "invoice-seal"]
  }
}
