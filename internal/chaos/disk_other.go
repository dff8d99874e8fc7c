//go:build !linux

package chaos

// hasDisk tells that agents have no disk of their own here.
func hasDisk() bool { return false }

func (m *member) mount() error { return nil }

func (m *member) unmount(bool) error { return nil }

func (m *member) fill() {}

func (m *member) free() error { return nil }
