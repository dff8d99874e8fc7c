// Package repository is the only place that knows how a TUF repository lies in a
// store: how to write one so that a crash at any moment, or two publishers at once,
// leave it whole, and how to read it so that nothing unverified comes out.
//
// A publication is a few create-only files (content, role metadata, a snapshot)
// that nobody sees until the last step replaces timestamp.json by compare and
// swap. Whoever loses that race reads again and publishes on top. What a crash
// leaves behind is never referred to; the next publisher takes the next free version.
//
// It also reads what agents and approvers leave beside the signed part, as far as a
// declared document says whose signature counts: [Reports] and [Grants].
//
// It is not for deciding what to declare or what to do with it, nor for writing
// what agents and approvers write.
//
// Publishers start with [Open], agents with [Client], who asks about agents with
// [OpenReports]. It imports control, trust and objstore.
package repository
