//go:build !unix

package h1

// quietSocket cannot look without blocking here, so it trusts the connection.
func quietSocket(uintptr) bool { return true }
