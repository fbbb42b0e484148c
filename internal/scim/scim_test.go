package scim

import (
	"encoding/json"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/external"
)

// Filters are read as RFC 7644 writes them; what lists cannot answer is an error, whatever its depth.
func TestParseFilter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`userName eq "ann"`:                                            `username=ann`,
		`USERNAME EQ "a\"b" and active eq True`:                        `username=a"b active=true`,
		`urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ann"`: `username=ann`,
		`externalId eq "]"`:                                            `externalid=]`,
		`  id   eq   "user-1"  `:                                       `id=user-1`,
		`a eq null`:                                                    `a=<nil>`,
		``:                                                             ``, `userName`: ``, `userName eq`: ``, `userName eq ann`: ``, `userName eq "ann`: ``,
		`userName co "a"`: ``, `not (userName eq "a")`: ``, `(userName eq "a")`: ``, `a eq "b" or c eq "d"`: ``, `a eq "b" c`: ``,
		`a eq "b"]`: ``, "a eq \"\x00\"": ``, "a eq \"\xff\"": ``, `a eq "\`: ``,
		strings.Repeat(`a eq "b" and `, 10) + `a eq "b"`: ``,
	} {
		list, err := parseFilter(text)
		var words []string
		for _, term := range list {
			words = append(words, term.attribute+"="+strings.Trim(mustText(term.value), "\n"))
		}
		if got := strings.Join(words, " "); err == nil && got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func mustText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return "<nil>"
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// Whatever stands in a filter is terms that are bounded, or an error for the client.
func FuzzFilter(f *testing.F) {
	f.Add(`userName eq "ann" and active eq true`)
	f.Add(`emails[type eq "work"].value`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseFilter(text)
		if err == nil && (len(list) == 0 || len(list) > maxTerms) || err != nil && !errs.Is(err, errs.Invalid) {
			t.Errorf("%q: %v, %v", text, list, err)
		}
		if at, err := parsePath(text); err == nil && at.attribute == "" || err != nil && !errs.Is(err, errs.Invalid) {
			t.Errorf("%q: %+v, %v", text, at, err)
		}
	})
}

// Whatever a PATCH has, a user or a group stays within its bounds.
func FuzzPatch(f *testing.F) {
	f.Add(`{"Operations": [{"op": "Add", "path": "emails[type eq \"work\"].value", "value": "a@b"}]}`)
	f.Add(`{"Operations": [{"op": "replace", "value": {"name.givenName": "A", "active": "False", "roles": "user"}}]}`)
	f.Add(`{"Operations": [{"op": "remove", "path": "members[value eq \"user-1\"]"}, {"op": "add", "path": "members", "value": {"value": "user-2"}}]}`)
	f.Add(`{"Operations": [{"op": "remove", "path": "emails[primary eq true]"}, {"op": "replace", "path": "roles", "value": null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var body patchBody
		if !json.Valid([]byte(text)) || decode([]byte(text), &body) != nil {
			return
		}
		u := &user{external: "x", name: "ann", active: true, attributes: attributes{
			Emails: entries{{Value: "a@b", Type: "work", Primary: true}, {Value: "c@d", Type: "home"}}}}
		var p external.Person
		if body.apply(u.patch) == nil && u.put(&p) == nil {
			a := attributesOf(&p)
			if len(a.Emails) > maxValues || len(a.Roles) > maxValues || p.UserName == "" || len(p.Attributes) > 1<<20 {
				t.Errorf("%s makes %+v", text, p)
			}
		}
		e := &external.GroupEdit{Name: "g", Members: map[int64]bool{1: true}}
		_ = body.apply(func(op string, at path, value json.RawMessage) error { return patchGroup(e, op, at, value) })
		if e.Members[0] {
			t.Errorf("%s makes nobody a member", text)
		}
	})
}

// An id is of one kind, and is written in one way.
func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"user-7": 7, "user-07": 0, "user--7": 0, "group-7": 0, "7": 0, "user-": 0,
		"user-9223372036854775808": 0, "user-+7": 0} {
		if got := parseID(userID, text); got != want {
			t.Errorf("%q is %d", text, got)
		}
	}
}
