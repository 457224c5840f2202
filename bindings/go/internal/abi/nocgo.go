//go:build deadpan_cgo && !cgo

package abi

// The name does not exist. The compiler's error about this name says what is missing.
var _ = the_build_tag_deadpan_cgo_needs_CGO_ENABLED_1
