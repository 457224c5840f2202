package deadpan

import (
	"strings"

	"deadpan.example/deadpan/internal/abi"
)

// A Recipient can open the data that are sealed to it. A Recipient is a [*PublicKey], a [*Passphrase] or a [*Session].
type Recipient interface {
	recipient() (part, error)
}

// An Identity opens sealed data. An Identity is a [*PrivateKey], a [*Passphrase] or a [*Session].
type Identity interface {
	identity() (part, error)
}

// A part is the library's form of one recipient or identity.
type part struct {
	handle abi.Handle
	add    add
	// alone is a list that contains only this part. Making the list once saves three calls for each item.
	alone abi.Handle
}

type add func(list, part abi.Handle, err *abi.Handle) int32

// SealOptions chooses how data are sealed. The zero value and nil are good choices.
type SealOptions struct {
	// AllowMixed allows a classical key together with other keys. The protection of the whole result is then only
	// classical.
	AllowMixed bool
	// HideLength pads the data, so that the length of the result reveals little about the length of the data.
	HideLength bool
	// Compress is the level of compression, from 1 (fast) to 19 (small); 3 is a good choice. 0 means that the data are
	// not compressed. The length of the result of compressed data tells something about the data.
	Compress int
	// Exclude holds patterns as in .gitignore, such as "node_modules/", "*.o" and "!keep.o": [SealFolder] leaves out what
	// they match in the folder. The last pattern that matches decides, and a pattern with ! takes back what earlier
	// patterns matched. Without patterns, everything is sealed. If a pattern is not valid, such as "[a", the error is
	// ErrArgument. Functions for other data ignore Exclude.
	Exclude []string
	// AgeFormat chooses age's format instead of Deadpan's.
	AgeFormat bool
	// Replace lets an output replace another file. If Replace is false and the output exists, the error is ErrExists.
	Replace bool
	// Threads is the number of threads that do the work. 0 stands for one thread on each core.
	Threads int
	// Progress receives the number of bytes that are processed so far: first 0, then new numbers about twenty times a
	// second, and the total number at the end. Progress runs in the goroutine that called the function.
	Progress func(done int64)
}

// OpenOptions chooses how data are opened. The zero value and nil are good choices. Functions ignore options that they
// do not need. For example, [Inspect] ignores Replace.
type OpenOptions struct {
	// MaxCost limits the memory and work for trying a passphrase. A server that opens files of other people needs a low
	// limit.
	MaxCost MaxCost
	// Replace lets an output replace another file. If Replace is false and the output exists, the error is ErrExists.
	Replace bool
	// Threads is the number of threads that do the work. 0 stands for one thread on each core.
	Threads int
	// Progress receives the number of bytes that are processed so far: first 0, then new numbers about twenty times a
	// second, and the total number at the end. Progress runs in the goroutine that called the function.
	Progress func(done int64)
}

// A MaxCost limits the memory and work for trying a [Passphrase] or [Session]. Sealed data specify how much memory and
// work they require. If the data require more than the limit, functions return [ErrCostly] before any work is done. The
// zero value stands for the library's limit: 2.5 GiB and 3 passes. Data that this package seals require 256 MiB and 3
// passes, which is MaxCost{256 << 10, 3}.
type MaxCost struct {
	// Memory is the most memory, in KiB.
	Memory uint32
	// Passes is the largest allowed amount of work, measured in passes over Memory. Data that need less memory may need
	// more passes.
	Passes uint32
}

func (o *OpenOptions) maxCost() MaxCost {
	if o == nil {
		return MaxCost{}
	}
	return o.MaxCost
}

func (o *SealOptions) work() work {
	if o == nil {
		return work{}
	}
	return work{o.Threads, o.Progress}
}

func (o *SealOptions) replace() int32 {
	return flag(o != nil && o.Replace)
}

func (o *OpenOptions) work() work {
	if o == nil {
		return work{}
	}
	return work{o.Threads, o.Progress}
}

func (o *OpenOptions) replace() int32 {
	return flag(o != nil && o.Replace)
}

func flag(on bool) int32 {
	if on {
		return 1
	}
	return 0
}

type list struct {
	handle abi.Handle
	// free frees the list. free is nil if the list belongs to its only recipient or identity.
	free func(abi.Handle) int32
}

func (l list) release() {
	if l.free != nil {
		l.free(l.handle)
	}
}

func newList(
	begin func(list, err *abi.Handle) int32, free func(abi.Handle) int32, fill func(list abi.Handle) error,
) (list, error) {
	var handle abi.Handle
	if err := run(func(err *abi.Handle) int32 { return begin(&handle, err) }); err != nil {
		return list{}, err
	}
	if err := fill(handle); err != nil {
		free(handle)
		return list{}, err
	}
	return list{handle, free}, nil
}

// sealing returns the library's list of recipients and options.
func sealing(options *SealOptions, to []Recipient) (list, error) {
	var chosen SealOptions
	if options != nil {
		chosen = *options
	}
	isPlain := !chosen.AllowMixed && !chosen.HideLength && !chosen.AgeFormat && chosen.Compress == 0 &&
		len(chosen.Exclude) == 0
	if isPlain && len(to) == 1 && to[0] != nil {
		only, err := to[0].recipient()
		return list{handle: only.alone}, err
	}
	return newList(abi.SealingNew, abi.SealingFree, func(list abi.Handle) error {
		for place, recipient := range to {
			if recipient == nil {
				return wrong("recipient %d is nil", place+1)
			}
			part, err := recipient.recipient()
			if err == nil {
				err = part.addTo(list)
			}
			if err != nil {
				return err
			}
		}
		return choose(list, chosen)
	})
}

// opening returns the library's list of identities, with the limit on memory and work.
func opening(options *OpenOptions, keys []Identity) (list, error) {
	limit := options.maxCost()
	if len(keys) == 1 && keys[0] != nil && limit == (MaxCost{}) {
		only, err := keys[0].identity()
		return list{handle: only.alone}, err
	}
	return newList(abi.OpeningNew, abi.OpeningFree, func(list abi.Handle) error {
		for place, key := range keys {
			if key == nil {
				return wrong("key %d is nil", place+1)
			}
			part, err := key.identity()
			if err == nil {
				err = part.addTo(list)
			}
			if err != nil {
				return err
			}
		}
		if limit == (MaxCost{}) {
			return nil
		}
		return run(func(err *abi.Handle) int32 {
			return abi.OpeningMaxCost(list, limit.Memory, limit.Passes, err)
		})
	})
}

func (p part) addTo(list abi.Handle) error {
	return run(func(err *abi.Handle) int32 { return p.add(list, p.handle, err) })
}

func choose(sealing abi.Handle, options SealOptions) error {
	for _, option := range []struct {
		on  bool
		set func(sealing abi.Handle, on int32, err *abi.Handle) int32
	}{
		{options.AllowMixed, abi.SealingAllowMixed},
		{options.HideLength, abi.SealingHideLength},
		{options.AgeFormat, abi.SealingAge},
	} {
		if err := run(func(err *abi.Handle) int32 { return option.set(sealing, flag(option.on), err) }); err != nil {
			return err
		}
	}
	for _, pattern := range options.Exclude {
		if strings.ContainsRune(pattern, 0) {
			return wrong("the pattern %q holds a zero byte", pattern)
		}
		if err := run(func(err *abi.Handle) int32 { return abi.SealingExclude(sealing, pattern, err) }); err != nil {
			return err
		}
	}
	if options.Compress == 0 {
		return nil
	}
	return run(func(err *abi.Handle) int32 { return abi.SealingCompress(sealing, int32(options.Compress), err) })
}

func sealingTo(add add, handle abi.Handle) (abi.Handle, error) {
	made, err := newList(abi.SealingNew, abi.SealingFree, part{handle: handle, add: add}.addTo)
	return made.handle, err
}

func openingWith(add add, handle abi.Handle) (abi.Handle, error) {
	made, err := newList(abi.OpeningNew, abi.OpeningFree, part{handle: handle, add: add}.addTo)
	return made.handle, err
}

func both(seal, open add, handle abi.Handle) (sealing, opening abi.Handle, err error) {
	if sealing, err = sealingTo(seal, handle); err != nil {
		return 0, 0, err
	}
	if opening, err = openingWith(open, handle); err != nil {
		abi.SealingFree(sealing)
		return 0, 0, err
	}
	return sealing, opening, nil
}
