package notification

import (
	"context"
	"errors"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/repo"
)

// The kinds of mails: of a subject, and a list of all subjects of a day or a week.
const (
	ToldMail   mail.Kind = "told"
	DigestMail mail.Kind = "digest"
)

// Digest is whether somebody gets a mail for each notification or a list.
type Digest int64

// The choices, as they are stored.
const (
	AtOnce Digest = iota
	Daily
	Weekly
)

// Settings are which notifications somebody gets by mail.
type Settings struct {
	Participating bool
	Watching      bool
	Own           bool // of own acts, too; not in digests
	Digest        Digest
}

// MailSettings returns which mails the caller gets.
func (s *Service) MailSettings(ctx context.Context, caller *account.Caller) (of Settings, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (Settings, error) { return settingsOf(tx, caller.ID) })
}

// MailAddress returns the address to which mail for the caller goes; empty: none is verified.
func (s *Service) MailAddress(ctx context.Context, caller *account.Caller) (address string, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (string, error) { return mail.AddressOf(tx, int64(caller.ID)) })
}

// SetMailSettings chooses which mails the caller gets. Error: 422.
func (s *Service) SetMailSettings(ctx context.Context, caller *account.Caller, to Settings) error {
	if to.Digest < AtOnce || to.Digest > Weekly {
		return errs.Validation(errs.Field{Resource: Resource, Field: "digest", Code: errs.InvalidField})
	}
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error { return putSettings(tx, caller.ID, to) })
}

// toldAbout is what a mail of kind ToldMail stores.
type toldAbout struct {
	Subject int64  `json:"subject"`
	Own     bool   `json:"own,omitempty"` // of the reader's own acts
	What    []What `json:"what"`
	More    int    `json:"more,omitempty"` // were left out
}

// Told is what a mail tells somebody, as it is now.
type Told struct {
	*Thread
	To     string // the address
	Reader *account.Account
	In     *repo.Access
	Parts  []Part
	More   int    // were left out
	Stop   string // the secret of the address that ends such mails
}

// Part is something that somebody did.
type Part struct {
	By     string // a login
	Did    string // "commented"
	Body   string // Markdown; empty: none
	Anchor string // of the page; empty: none
	Kind   WhatKind
	Inline []Inline
}

// Inline is a comment on a line of a review.
type Inline struct{ Path, Body string }

// readerOf returns whose mail it is and the address. Error: 404 if the account gets no mail.
func readerOf(tx *db.Tx, id int64) (a *account.Account, c *account.Caller, to string, err error) {
	if to, err = mail.AddressOf(tx, id); err != nil {
		return nil, nil, "", err
	}
	if to == "" {
		return nil, nil, "", errs.Absent()
	}
	if a, err = account.ByID(tx, account.ID(id)); err != nil {
		return nil, nil, "", err
	}
	return a, &account.Caller{ID: a.ID, Login: a.Login, SiteAdmin: a.SiteAdmin}, to, nil
}

// Told returns what a mail tells its reader. Error: 404 if that is nothing any more.
func (s *Service) Told(ctx context.Context, m *mail.Mail) (*Told, error) {
	var about toldAbout
	if err := m.Read(&about); err != nil {
		return nil, err
	}
	key, err := mail.Key(ctx, s.db)
	if err != nil {
		return nil, err
	}
	t := &Told{More: about.More}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		var caller *account.Caller
		if t.Reader, caller, t.To, err = readerOf(tx, m.Account); err != nil {
			return err
		}
		if t.Thread, err = toldNow(tx, caller, about.Subject, about.Own); errors.Is(err, db.ErrNoRows) {
			return errs.Absent()
		} else if err != nil {
			return err
		}
		wants, err := settingsOf(tx, caller.ID)
		if err != nil {
			return err
		}
		if !wants.wants(t.Reason, about.Own) {
			return errs.Absent()
		}
		if t.In, err = repo.ByID(tx, caller, t.RepoID); err != nil {
			return err
		}
		t.Parts, err = parts(tx, t.Thread, about.heardBy(caller.ID))
		if err == nil && len(t.Parts) == 0 {
			err = errs.Absent()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	t.Stop = stopOf(t.Thread, m.Account).Sign(key, stop)
	return t, s.readTitles(ctx, &Page{Threads: []*Thread{t.Thread}, Repos: map[repo.ID]*repo.Access{t.RepoID: t.In}})
}

// wants reports whether somebody wants a mail.
func (s *Settings) wants(r Reason, own bool) bool {
	switch {
	case own:
		return s.Own && s.Participating && s.Digest == AtOnce
	case r == Subscribed:
		return s.Watching
	}
	return s.Participating
}

// heardBy are the parts that somebody is told: nobody's own, unless that is what the mail is about.
func (t *toldAbout) heardBy(id account.ID) (list []What) {
	for _, w := range t.What {
		if (w.By == id) == t.Own && (w.User == 0 || t.Own || w.User == id) {
			list = append(list, w)
		}
	}
	return list
}

// verbs say what happened, where there is no text.
var verbs = map[WhatKind]string{Opened: "opened this", Closed: "closed this", Reopened: "reopened this",
	Comment: "commented", Review: "reviewed this", Assigned: "assigned you", Requested: "asked for a review",
	Mentioned: "mentioned you", CommitComment: "commented", Published: "published this release"}

// reviewed says what a review of a state does.
var reviewed = map[int64]string{3: "approved these changes", 4: "asked for changes", 5: "reviewed this"}

// parts reads what happened, without what was deleted or hidden since.
func parts(tx *db.Tx, t *Thread, list []What) (out []Part, err error) {
	ids, people := map[WhatKind][]int64{}, []account.ID{}
	for _, w := range list {
		ids[w.Kind], people = append(ids[w.Kind], w.ID), append(people, w.By)
	}
	texts, lines := map[WhatKind]map[int64]written{}, map[int64][]written{}
	if list := ids[Comment]; err == nil && len(list) > 0 {
		texts[Comment], err = commentsNow(tx, t.Issue, list)
	}
	if list := ids[Review]; err == nil && len(list) > 0 {
		if texts[Review], err = reviewsNow(tx, t.Issue, list); err == nil {
			lines, err = reviewTexts(tx, t.Issue, list)
		}
	}
	if list := ids[CommitComment]; err == nil && len(list) > 0 {
		texts[CommitComment], err = commitCommentsNow(tx, t.RepoID, list)
	}
	var who map[account.ID]*account.Account
	if err == nil {
		who, err = account.ByIDs(tx, people)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range list {
		p := Part{By: "ghost", Did: verbs[w.Kind], Kind: w.Kind}
		if a := who[w.By]; a != nil {
			p.By = a.Login
		}
		there := true
		switch w.Kind {
		case Opened, Published:
			p.Body, err = bodyOf(tx, t)
		case Closed:
			if t.Merged != 0 {
				p.Did = "merged this"
			}
		case Comment, Review, CommitComment:
			var text written
			if text, there = texts[w.Kind][w.ID]; there {
				p.Body, p.Anchor = text.body, anchors[w.Kind]+strconv.FormatInt(w.ID, 10)
				if did := reviewed[text.state]; w.Kind == Review && did != "" {
					p.Did = did
				}
				for _, l := range lines[w.ID] {
					if w.Kind == Review {
						p.Inline = append(p.Inline, Inline{l.path, l.body})
					}
				}
			}
		}
		if err != nil {
			return nil, err
		}
		if there && p.Did != "" {
			out = append(out, p)
		}
	}
	return out, nil
}

// anchors begin those of texts on their pages.
var anchors = map[WhatKind]string{Comment: "issuecomment-", Review: "pullrequestreview-",
	CommitComment: "commitcomment-"}
