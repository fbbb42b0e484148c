package audit

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Cursor is a place between events: right behind the one that it names, or right before.
type Cursor struct {
	CreatedAt db.Time
	ID        int64
}

// String is the cursor as clients send it back.
func (c Cursor) String() string {
	text := strconv.FormatInt(int64(c.CreatedAt), 10) + "." + strconv.FormatInt(c.ID, 10)
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// ParseCursor parses the result of String; empty is the zero cursor, of the list's beginning.
func ParseCursor(s string) (c Cursor, ok bool) {
	if s == "" {
		return c, true
	}
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return c, false
	}
	at, id, found := strings.Cut(string(text), ".")
	n, err1 := strconv.ParseInt(at, 10, 64)
	c.ID, _ = web.ParseNumber(id)
	c.CreatedAt = db.Time(n)
	if !found || err1 != nil || c.ID == 0 || c.String() != s {
		return Cursor{}, false
	}
	return c, true
}

// SetCursors sets where a page begins, behind the event of the cursor after, or where it ends, before the other one's;
// not both. Error: 422.
func (f *Filter) SetCursors(after, before string) error {
	var ok1, ok2 bool
	f.After, ok1 = ParseCursor(after)
	f.Before, ok2 = ParseCursor(before)
	if !ok1 || !ok2 || after != "" && before != "" {
		return errs.Validation(errs.Field{Resource: "AuditLog", Field: "after", Code: errs.InvalidField,
			Message: "after or before must be a cursor of the Link header, one of them"})
	}
	return nil
}

// Around returns the cursors of the pages that come after and before what the filter found; empty: there is none.
func (f *Filter) Around(list []Event, more bool) (next, prev string) {
	if len(list) == 0 {
		return "", ""
	}
	backwards := f.Before != Cursor{}
	if more || backwards {
		next = list[len(list)-1].Place().String()
	}
	if more && backwards || f.After != (Cursor{}) {
		prev = list[0].Place().String()
	}
	return next, prev
}

// Parse adds a search phrase to the filter: action:repo.create or action:repo, actor:LOGIN,
// repo:OWNER/NAME, and created: with a day, a time, a range of them (2026-01-01..2026-01-31),
// or one behind <, <=, > or >=. All of them must hold. Errors: 422.
func (f *Filter) Parse(phrase string) error {
	for word := range strings.FieldsSeq(phrase) {
		key, value, found := strings.Cut(word, ":")
		value = strings.Trim(value, `"`)
		if !found || value == "" {
			return wrong("phrase takes action:, actor:, repo: and created:, each with a value; %q is none",
				word)
		}
		var err error
		switch key {
		case "action":
			err = f.parseAction(value)
		case "actor":
			err = setOnce(&f.Actor, key, value)
		case "repo":
			err = setOnce(&f.Repo, key, value)
		case "created":
			err = f.parseCreated(value)
		default:
			err = wrong("phrase takes action:, actor:, repo: and created:, not %q", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func wrong(format string, args ...any) error {
	return errs.Validation(errs.Field{Resource: "AuditLog", Field: "phrase", Code: errs.InvalidField,
		Message: errs.Newf(errs.Invalid, format, args...).Message})
}

// setOnce refuses two values of one key: no event has both.
func setOnce(to *string, key, value string) error {
	if *to != "" {
		return wrong("phrase names %s: twice", key)
	}
	*to = value
	return nil
}

// parseAction takes an action, or the word before its point for all actions of that kind.
func (f *Filter) parseAction(value string) error {
	if f.Actions != nil {
		return wrong("phrase names action: twice")
	}
	if f.Actions = ActionsOf(value); f.Actions == nil {
		return wrong("there is no action %q", value)
	}
	return nil
}

// ActionsOf is one action, or all of a kind such as repo; nil if there is none.
func ActionsOf(value string) (list []Action) {
	for _, a := range Actions {
		kind, _, _ := strings.Cut(string(a), ".")
		if string(a) == value || kind == value {
			list = append(list, a)
		}
	}
	return list
}

// parseCreated narrows the time of the events.
func (f *Filter) parseCreated(value string) error {
	from, until, is := strings.Cut(value, "..")
	switch {
	case is:
	case strings.HasPrefix(value, ">="):
		from, until = value[2:], "*"
	case strings.HasPrefix(value, "<="):
		from, until = "*", value[2:]
	case strings.HasPrefix(value, ">"):
		_, end, ok := span(value[1:])
		return f.limitTime(end, 0, ok, value)
	case strings.HasPrefix(value, "<"):
		begin, _, ok := span(value[1:])
		return f.limitTime(0, begin, ok, value)
	default:
		until = from
	}
	begin, _, ok1 := span(from)
	_, end, ok2 := span(until)
	return f.limitTime(begin, end, ok1 && ok2, value)
}

func (f *Filter) limitTime(from, until db.Time, ok bool, value string) error {
	if !ok {
		return wrong("created: takes days and times such as 2026-01-31 or 2026-01-31T12:00:00Z, not %q",
			value)
	}
	f.From = max(f.From, from)
	if until != 0 && (f.Until == 0 || until < f.Until) {
		f.Until = until
	}
	return nil
}

// span is the day or the second that a text names, until is exclusive; * is both without a bound.
func span(s string) (from, until db.Time, ok bool) {
	if s == "*" {
		return 0, 0, true
	}
	t, ok := web.ParseTime(s)
	if !ok {
		return 0, 0, false
	}
	length := time.Second
	if len(s) == len(time.DateOnly) {
		length = 24 * time.Hour
	}
	// Events begin after 1970, and 0 means no bound.
	return max(1, db.FromTime(t)), max(1, db.FromTime(t.Add(length))), true
}
