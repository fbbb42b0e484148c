package gitdata

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxCounted is the number of commits after a page that are counted for rel="last". A longer list has next,
// first and prev, but not last.
const maxCounted = 50_000

// maxSkipped is the maximum offset of a page.
const maxSkipped = 1 << 30

// History says which commits are listed. What is empty chooses all.
type History struct {
	From              string // a branch, tag or SHA; empty: the default branch
	Path              string // they changed it
	Author, Committer string // a login or an address
	Since, Until      time.Time
}

// check returns the 422 for the first value that is wrong, or nil.
func (h *History) check() error {
	if h.Path != "" {
		if err := git.CheckPath(h.Path); err != nil || !utf8.ValidString(h.Path) {
			return badParameter("path", "path must be a path in the repository")
		}
	}
	for name, value := range map[string]string{"author": h.Author, "committer": h.Committer} {
		if !utf8.ValidString(value) || strings.ContainsAny(value, "\x00\r\n") {
			return badParameter(name, name+" must be a login or an e-mail address")
		}
	}
	return nil
}

// History returns a page of the commits of a history, the newest first. Errors: 409 for an empty
// repository; 404 for what From does not name; 422.
func (s *Service) History(
	ctx context.Context, a *repo.Access, h History, at web.Page,
) (*web.List[*CommitView], error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	found, err := s.walk(ctx, a, &h, at)
	if err != nil {
		return nil, err
	}
	views, err := s.loadViews(ctx, a, found.shas)
	return &web.List[*CommitView]{Rows: views, More: found.open || at.Number*at.Size < int64(found.total)}, err
}

// ParseTime parses a bound of a history, which is named in its error: 422.
func ParseTime(name, value string) (time.Time, error) {
	t, ok := parseTime(value)
	if !ok {
		return t, badParameter(name, name+" must be a time as 2011-04-22T13:33:48Z")
	}
	return time.Unix(max(t.Unix(), 1), 0), nil
}

func badParameter(name, message string) error {
	return errs.Validation(errs.Field{Resource: "Commit", Field: name, Code: errs.InvalidField,
		Message: message})
}

// parseTime parses ISO 8601: with a time zone, without one (UTC), or just a date.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1 && t.Year() <= 9999 {
			return t, true
		}
	}
	return time.Time{}, false
}

// options returns the options of a history's walk. none reports that no commit can match.
func (s *Service) options(ctx context.Context, h *History) (o git.LogOptions, none bool, err error) {
	o = git.LogOptions{Path: h.Path}
	if !h.Since.IsZero() {
		o.Since = h.Since.Unix()
	}
	if !h.Until.IsZero() {
		o.Until = h.Until.Unix()
	}
	if h.Author != "" {
		if o.Author, err = s.addresses(ctx, h.Author); err != nil || len(o.Author) == 0 {
			return o, true, err
		}
	}
	if h.Committer != "" {
		if o.Committer, err = s.addresses(ctx, h.Committer); err != nil || len(o.Committer) == 0 {
			return o, true, err
		}
	}
	return o, false, nil
}

// addresses returns the addresses of a login, or an address itself. The result is empty if nothing can
// match.
func (s *Service) addresses(ctx context.Context, who string) ([]string, error) {
	if strings.Contains(who, "@") {
		if git.CheckEmail(who) != nil {
			return nil, nil
		}
		return []string{who}, nil
	}
	var found []string
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found = nil
		a, err := account.ByLogin(tx, who)
		if errs.Is(err, errs.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		list, err := account.CommitEmails(tx, a)
		found = slices.DeleteFunc(list, func(email string) bool { return git.CheckEmail(email) != nil })
		return err
	})
	return found, err
}

// walked is a page of a walk.
type walked struct {
	shas  []git.SHA
	total int
	open  bool // the end is not known: there is another page
	none  bool // no commit can match
}

// walk walks a history. How long the walk is depends on where it starts and what it looks for, not on the
// page: it is counted once. Errors: those of History.
func (s *Service) walk(ctx context.Context, a *repo.Access, h *History, at web.Page) (found walked, err error) {
	from, err := s.revision(ctx, a, h.From, false)
	if err != nil {
		return found, err
	}
	o, none, err := s.options(ctx, h)
	if err != nil || none {
		return walked{none: true}, err
	}
	return s.walkFrom(ctx, a, o, from, at)
}

// walkFrom walks the history of a commit.
func (s *Service) walkFrom(
	ctx context.Context, a *repo.Access, o git.LogOptions, from git.SHA, at web.Page,
) (found walked, err error) {
	o.From = []git.SHA{from}
	key := strings.Join([]string{"count", a.ID.String(), string(o.From[0]), strings.Join(o.Author, ","),
		strings.Join(o.Committer, ","),
		strconv.FormatInt(o.Since, 36), strconv.FormatInt(o.Until, 36), o.Path}, " ")
	o.Skip, o.Max = int(min(at.Offset(), maxSkipped)), int(at.Size)
	known, counted := s.lengths.Get(objectsOf(a), key)
	if !counted {
		o.Count = maxCounted
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return found, err
	}
	defer release()
	found.shas, found.total, found.open, err = objects.Log(ctx, o)
	switch {
	case err != nil:
		return found, err
	case counted:
		found.total, found.open = known, false
	case !found.open:
		s.lengths.Put(objectsOf(a), key, found.total)
	}
	return found, nil
}
