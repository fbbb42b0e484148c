package hook

import (
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook/outgoing"
	"arbor/internal/repo"
)

// Past is a webhook of a repository on another server.
type Past struct {
	Repo     repo.ID
	URL      string
	Form     bool
	Insecure bool
	Events   []string // unknown ones are ignored
}

// InsertPast adds a webhook that an import brings: inactive, without a secret, and without a ping. The repository's row
// must be locked. left are the events that were left out. Errors: 422 for an address that no webhook may have or that
// another one has, for one too many, and for one without a known event.
func InsertPast(tx *db.Tx, networks outgoing.Networks, p Past) (id int64, left []string, err error) {
	s := &Service{networks: networks}
	if err := s.CheckURL(p.URL); err != nil || len(p.URL) > maxURL {
		return 0, nil, errs.New(errs.Invalid, "no webhook may have its address")
	}
	var events []string
	for _, e := range p.Events[:min(len(p.Events), maxEvents)] {
		if known(e) {
			events = append(events, e)
		} else {
			left = append(left, e)
		}
	}
	if len(events) == 0 {
		return 0, left, errs.New(errs.Invalid, "none of its events is known here")
	}
	h := &Hook{RepoID: p.Repo, URL: p.URL, Form: p.Form, Insecure: p.Insecure, Events: tidy(events),
		Salt: newSalt(), CreatedAt: tx.Now, UpdatedAt: tx.Now, LastStatus: "unused"}
	if err := checkOthers(tx, h); err != nil {
		if errs.Is(err, errs.Invalid) {
			err = errs.Newf(errs.Invalid, "there is one with its address, or there are %d already", MaxHooks)
		}
		return 0, left, err
	}
	err = insert(tx, h)
	return h.ID, left, err
}
