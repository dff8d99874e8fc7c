package bench

// maxrssUnit is what the system counts peak memory in, in bytes.
const maxrssUnit = 1
