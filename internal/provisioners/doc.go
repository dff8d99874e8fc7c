// Package provisioners runs what provisioner blocks ask for: commands on this
// machine (local-exec), commands on another one (remote-exec) and files brought
// there (file), over SSH.
//
// It is not for deciding when a provisioner runs and what its failure means: that
// is the engine's. It keeps nothing between two runs, and it never asks: whoever
// gives it to an engine lets configurations run commands, which the agent does
// only if its owner says so.
//
// Files go over the SFTP subsystem, which every OpenSSH server offers, and not
// through an scp command on the other machine. WinRM is refused by name.
//
// Start with [Builtin]. It may import tfdiags and providers.
package provisioners
