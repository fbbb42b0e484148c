package account

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// Text counts for the account that writes it: titles and bodies of issues, comments, reviews and the other
// tables of [Texts], and 256 bytes for each row and what goes with it (its events, notifications and index).
// Triggers keep text_counts. What an App's bot writes counts for the App's owner, too: else everybody
// could have the quotas of a hundred bots.
//
// A quota bounds all text of an account, a rate what it writes within an hour: edits with their whole new
// text, including text of others ([WrittenBy]). Both are compared at the end of each transaction of a
// request, where its right is checked ([Service.LimitText], [db.Bound]), so no operation can forget it.
// Requests that run at the same time may pass the bound by one text each.

// TextTable is a table of texts that count for the account in a column.
type TextTable struct {
	Table, Account string
	Bytes          string // an SQL expression for the number of bytes that a row counts
}

// Texts are the tables whose rows text_counts counts, as the triggers of the schema do (16_texts.sql).
var Texts = []TextTable{
	{"issues", "author_id", `256 + octet_length(title) + COALESCE(octet_length(body), 0)`},
	{"issue_comments", "author_id", `256 + octet_length(body)`},
	// who was mentioned or subscribed (12, 13) is the actor of what others did
	{"issue_events", "actor_id", `CASE WHEN kind IN (12, 13) THEN 0 ELSE 256 + COALESCE(octet_length(detail), 0) END`},
	{"reviews", "author_id", `256 + octet_length(body)`},
	{"review_comments", "author_id",
		`256 + octet_length(body) + octet_length(path) + octet_length(diff_hunk)`},
	{"text_edits", "editor_id", `COALESCE(256 + octet_length(was), 0)`},
	{"commit_comment_edits", "editor_id", `COALESCE(256 + octet_length(was), 0)`},
	{"commit_comments", "author_id", `256 + octet_length(body) + COALESCE(octet_length(path), 0)`},
	{"milestones", "creator_id", `256 + octet_length(title) + COALESCE(octet_length(description), 0)`},
	{"releases", "author_id", `256 + octet_length(tag) + octet_length(target)
		+ COALESCE(octet_length(name), 0) + COALESCE(octet_length(body), 0)`},
	{"statuses", "creator_id", `256 + octet_length(context)
		+ COALESCE(octet_length(target_url), 0) + COALESCE(octet_length(description), 0)`},
	{"deployments", "creator_id", `512 + octet_length(payload) + octet_length(ref)`},
	{"deployment_statuses", "creator_id", `512 + octet_length(log_url) + octet_length(environment_url)`},
	{"plants", "owner_id", `256 + octet_length(name) + COALESCE(octet_length(tag), 0)`},
}

// WrittenBy calls fn, which changes texts of an author, and counts them for the hourly rate of the writer,
// because maintainers edit and transfer texts of others. The stored size still counts for the author.
// Otherwise strangers could keep the author from writing.
func WrittenBy(tx *db.Tx, writer, author ID, fn func() error) error {
	if writer == author {
		return fn()
	}
	before, err := hourOf(tx, author)
	if err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	return moveHour(tx, author, writer, before)
}

// TextLimits bound what one account writes.
type TextLimits struct {
	KB   int64 // KiB of text of an account without a quota of its own, or Unbounded
	Rate int64 // bytes of text within an hour; 0: any number
}

// textUse is what an account has written.
type textUse struct {
	login string // of the account that it counts for
	most  *int64 // the account's quota in KiB; nil: the server's
	bytes int64
	hour  int64 // bytes within the hour
	wait  int64 // seconds until that hour ends
}

// WithTextLimit returns the context of a request whose writes are limited.
func WithTextLimit(ctx context.Context, l *TextLimit) context.Context { return db.WithBound(ctx, l) }

// TextFits reports whether the quota of the transaction's request has room for n more bytes of text.
func TextFits(tx *db.Tx, n int) bool {
	l, _ := tx.Bound().(*TextLimit)
	if l == nil {
		return true
	}
	next := l.before
	next.bytes += int64(n)
	return l.exceeded(&next, true, false) == nil
}

// TextLimit bounds the texts that one request adds.
type TextLimit struct {
	limits TextLimits
	caller ID
	before textUse
}

// LimitText returns the limit for what a request of the caller writes; nil if nothing is bounded. Code of
// this process is not bounded, such as seeds.
func (s *Service) LimitText(ctx context.Context, c *Caller) (*TextLimit, error) {
	if c.TokenID == 0 {
		return nil, nil
	}
	l := &TextLimit{limits: s.TextLimits, caller: c.ID}
	err := s.db.ReadOne(ctx, func(tx *db.Tx) (err error) {
		l.before, err = textOf(tx, c.ID)
		return err
	})
	return l, err
}

// Full returns the error for any further text, or nil, for writes without WithTextLimit. Error: 403.
func (l *TextLimit) Full() error {
	next := l.before
	next.bytes, next.hour = next.bytes+1, next.hour+1
	return l.exceeded(&next, true, true)
}

// Send implements [db.Bound]: a transaction must not write more text than the account may. Changes that do not
// lengthen a text are allowed. Errors: 403.
func (l *TextLimit) Send(tx *db.Tx) (exceeded func() error, err error) {
	now, err := sendTextOf(tx, l.caller)
	return func() error {
		return l.exceeded(now, now.bytes > l.before.bytes, now.hour > l.before.hour)
	}, err
}

// exceeded compares the texts written with the limits.
func (l *TextLimit) exceeded(u *textUse, grew, wrote bool) error {
	most := l.limits.KB
	if u.most != nil {
		most = *u.most
	}
	switch {
	case grew && most >= 0 && u.bytes > most*1024:
		return errs.Newf(errs.Forbidden, "The texts of %s (issues, comments, reviews and the like) may take at most %s, "+
			"and would take more.", u.login, Kibibytes(most))
	case wrote && l.limits.Rate > 0 && u.hour > l.limits.Rate:
		return &errs.Error{Kind: errs.RateLimited, Wait: max(1, u.wait),
			Message: "You have exceeded a secondary rate limit: so much text within an hour. Please wait before you try again."}
	}
	return nil
}
