//go:build deadpan_cgo && !cgo

package abi

// The name does not exist. The compiler prints the undefined name in its error message: the build tag deadpan_cgo needs
// CGO_ENABLED=1.
var _ = the_build_tag_deadpan_cgo_needs_CGO_ENABLED_1
