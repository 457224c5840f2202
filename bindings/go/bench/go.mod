module deadpan.example/deadpan/bench

go 1.26

require (
	deadpan.example/deadpan v0.0.0
	filippo.io/age v1.3.2
)

require (
	filippo.io/hpke v0.4.0 // indirect
	github.com/ebitengine/purego v0.11.3 // indirect
	golang.org/x/crypto v0.55.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace deadpan.example/deadpan => ../
