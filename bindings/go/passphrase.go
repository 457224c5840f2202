package deadpan

import (
	"runtime"

	"deadpan.example/deadpan/internal/abi"
)

// A Passphrase seals and opens data. A Passphrase is a [Recipient] and an [Identity]. Each use hashes the passphrase,
// which takes about a second and much memory on purpose. For many items with one passphrase, use a [Session].
type Passphrase struct {
	held                     resource
	handle, sealing, opening abi.Handle
}

// NewPassphrase copies a passphrase. The caller may clear the text afterwards.
func NewPassphrase(text []byte) (*Passphrase, error) {
	passphrase := new(Passphrase)
	var handle abi.Handle
	err := run(func(err *abi.Handle) int32 { return abi.PassphraseNew(text, &handle, err) })
	if err != nil {
		return nil, err
	}
	sealing, opening, err := both(abi.SealingAddPassphrase, abi.OpeningAddPassphrase, handle)
	if err != nil {
		abi.PassphraseFree(handle)
		return nil, err
	}
	passphrase.handle, passphrase.sealing, passphrase.opening = handle, sealing, opening
	own(passphrase, &passphrase.held, "passphrase", func() {
		abi.PassphraseFree(handle)
		abi.SealingFree(sealing)
		abi.OpeningFree(opening)
	})
	return passphrase, nil
}

// optional returns the handle of a passphrase, or 0 for nil.
func (p *Passphrase) optional() (abi.Handle, error) {
	if p == nil {
		return 0, nil
	}
	return p.handle, p.held.check()
}

// String returns nothing secret.
func (p *Passphrase) String() string {
	return "passphrase"
}

// Close wipes the passphrase. Without Close, the secret is wiped some time after the program has dropped its last
// reference to this value.
func (p *Passphrase) Close() error {
	if p != nil {
		p.held.close()
	}
	return nil
}

func (p *Passphrase) recipient() (part, error) {
	if p == nil {
		return part{}, wrong("a passphrase is nil")
	}
	return part{p.handle, abi.SealingAddPassphrase, p.sealing}, p.held.check()
}

func (p *Passphrase) identity() (part, error) {
	if p == nil {
		return part{}, wrong("a passphrase is nil")
	}
	return part{p.handle, abi.OpeningAddPassphrase, p.opening}, p.held.check()
}

// A Session is a passphrase that was hashed once, for many items. A Session is a [Recipient] and an [Identity]. The
// passphrase of a session also opens the data that the session has sealed.
type Session struct {
	held                     resource
	handle, sealing, opening abi.Handle
}

// NewSession hashes a passphrase.
func NewSession(passphrase *Passphrase) (*Session, error) {
	if passphrase == nil {
		return nil, wrong("the passphrase is nil")
	}
	if err := passphrase.held.check(); err != nil {
		return nil, err
	}
	var handle abi.Handle
	err := run(func(err *abi.Handle) int32 { return abi.SessionNew(passphrase.handle, &handle, err) })
	runtime.KeepAlive(passphrase)
	if err != nil {
		return nil, err
	}
	sealing, opening, err := both(abi.SealingAddSession, abi.OpeningAddSession, handle)
	if err != nil {
		abi.SessionFree(handle)
		return nil, err
	}
	session := &Session{handle: handle, sealing: sealing, opening: opening}
	own(session, &session.held, "session", func() {
		abi.SessionFree(handle)
		abi.SealingFree(sealing)
		abi.OpeningFree(opening)
	})
	return session, nil
}

// String returns nothing secret.
func (s *Session) String() string {
	return "session of a passphrase"
}

// Close wipes the session. Without Close, the secret is wiped some time after the program has dropped its last
// reference to this value.
func (s *Session) Close() error {
	if s != nil {
		s.held.close()
	}
	return nil
}

func (s *Session) recipient() (part, error) {
	if s == nil {
		return part{}, wrong("a session is nil")
	}
	return part{s.handle, abi.SealingAddSession, s.sealing}, s.held.check()
}

func (s *Session) identity() (part, error) {
	if s == nil {
		return part{}, wrong("a session is nil")
	}
	return part{s.handle, abi.OpeningAddSession, s.opening}, s.held.check()
}
