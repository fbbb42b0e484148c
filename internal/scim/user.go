package scim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/external"
	"arbor/internal/web"
)

// name is the name of a user in parts.
type name struct {
	Formatted string `json:"formatted,omitempty"`
	Family    string `json:"familyName,omitempty"`
	Given     string `json:"givenName,omitempty"`
	Middle    string `json:"middleName,omitempty"`
}

// attributes are what a provider says of a user beside the columns of external.Person, which stores them as JSON.
type attributes struct {
	Display string  `json:"displayName,omitempty"`
	Name    name    `json:"name,omitzero"`
	Emails  entries `json:"emails,omitempty"`
	Roles   entries `json:"roles,omitempty"`
}

// userBody is a user as a provider sends it.
type userBody struct {
	ExternalID string `json:"externalId"`
	UserName   string `json:"userName"`
	Active     *flag  `json:"active"` // nil: not said
	attributes
}

// The fields of bodies, for tests that hold them against the description.
var (
	userFields  = []string{"externalId", "userName", "displayName", "name", "active", "emails", "roles"}
	groupFields = []string{"externalId", "displayName", "members"}
	patchFields = []string{"Operations"}
)

// fieldsOf are those of a body.
func fieldsOf(body any) []string {
	switch body.(type) {
	case *userBody:
		return userFields
	case *groupBody:
		return groupFields
	default:
		return patchFields
	}
}

// groupRef is a group in the payload of a user.
type groupRef struct {
	Value   string `json:"value"`
	Ref     string `json:"$ref"`
	Display string `json:"display"`
}

// userPayload is a user as SCIM has it.
type userPayload struct {
	Schemas    []string   `json:"schemas"`
	ID         string     `json:"id"`
	ExternalID string     `json:"externalId,omitempty"`
	UserName   string     `json:"userName,omitempty"`
	Display    string     `json:"displayName,omitempty"`
	Name       *name      `json:"name,omitempty"`
	Active     bool       `json:"active"`
	Emails     entries    `json:"emails"`
	Roles      entries    `json:"roles,omitempty"`
	Groups     []groupRef `json:"groups,omitempty"`
	Meta       *meta      `json:"meta,omitempty"`
}

var userColumns = map[string]external.Column{"id": external.ByID, "externalid": external.ByExternalID,
	"username": external.ByUserName, "displayname": external.ByDisplayName, "active": external.ByActive}

// payload renders a user with the attributes that a request asks for. id, active and emails are always sent.
func (c *call) payload(p *external.Person, asked page) *userPayload {
	u := user{attributes: attributesOf(p)}
	out := &userPayload{Schemas: []string{userSchema}, ID: userID + strconv.FormatInt(p.ID, 10), Active: p.Active,
		Emails: entries{}}
	if asked.sends("externalId") {
		out.ExternalID = p.Subject
	}
	if asked.sends("userName") {
		out.UserName = p.UserName
	}
	if asked.sends("displayName") {
		out.Display = u.Display
	}
	if asked.sends("name") && u.Name != (name{}) {
		out.Name = &u.Name
	}
	if asked.sends("emails") && u.Emails != nil {
		out.Emails = u.Emails
	}
	if asked.sends("roles") {
		out.Roles = u.Roles
	}
	if asked.sends("groups") {
		for _, g := range p.Groups {
			id := groupID + strconv.FormatInt(g.ID, 10)
			out.Groups = append(out.Groups, groupRef{id, c.info.API("/scim/v2/Groups/" + id), g.Name})
		}
	}
	if asked.sends("meta") {
		out.Meta = &meta{"User", stamp(p.CreatedAt.Time()), stamp(p.UpdatedAt.Time()), c.info.API("/scim/v2/Users/" + out.ID)}
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// attributesOf reads the attributes of a person, which were written by this package.
func attributesOf(p *external.Person) (a attributes) {
	_ = json.Unmarshal([]byte(p.Attributes), &a)
	return a
}

// user is a user while it changes.
type user struct {
	external string
	name     string
	active   bool
	attributes
}

// administers are the values of roles that make a site administrator: ours, and GitHub's with its ids.
var administers = []string{"administrator", "enterprise_owner", "981df190-8801-4618-a08a-d91f6206c954",
	"ba4987ab-a1c3-412a-b58c-360fc407cb10"}

// put checks a user, and writes it into a person. Errors: 400.
func (u *user) put(p *external.Person) error {
	for _, one := range [...][2]string{{"externalId", u.external}, {"userName", u.name}, {"displayName", u.Display},
		{"name.formatted", u.Name.Formatted}, {"name.familyName", u.Name.Family}, {"name.givenName", u.Name.Given},
		{"name.middleName", u.Name.Middle}} {
		if err := checkText(one[0], one[1]); err != nil {
			return err
		}
	}
	switch {
	case strings.TrimSpace(u.name) == "":
		return bad("userName is missing")
	case u.external == "" || len(u.external) > external.MaxSubject:
		return bad("externalId is missing or too long: it says who the user is at the provider")
	}
	for i := range u.Roles { // a role may be JSON of an application, as Entra ID sends it
		u.Roles[i].Value = roleOf(u.Roles[i].Value)
	}
	if err := u.Emails.check("emails"); err != nil {
		return err
	}
	if err := u.Roles.check("roles"); err != nil {
		return err
	}
	text, err := json.Marshal(u.attributes)
	if err != nil {
		return err
	}
	p.Subject, p.UserName, p.Display, p.Active, p.Attributes = u.external, u.name, u.Display, u.active, string(text)
	p.Admin = slices.ContainsFunc(u.Roles, func(e entry) bool {
		return slices.ContainsFunc(administers, func(role string) bool { return strings.EqualFold(role, e.Value) })
	})
	p.Name, p.Email = u.fullName(), u.email()
	return nil
}

// roleOf is the value of a role that may itself be a role as JSON.
func roleOf(text string) string {
	var inner struct {
		Value string `json:"value"`
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &inner) == nil && inner.Value != "" {
		return inner.Value
	}
	return text
}

// fullName is the name of a new account.
func (u *user) fullName() string {
	for _, text := range [...]string{u.Display, u.Name.Formatted, strings.TrimSpace(u.Name.Given + " " + u.Name.Family)} {
		if text != "" {
			return text
		}
	}
	return ""
}

// email is the address of a new account: the primary one, else the first.
func (u *user) email() string {
	for _, e := range u.Emails {
		if e.Primary {
			return e.Value
		}
	}
	if len(u.Emails) > 0 {
		return u.Emails[0].Value
	}
	return ""
}

// readBody reads the body of a request. Errors: 400, 413.
func readBody(r *http.Request, to any) error {
	text, err := web.ReadBody(r)
	if err != nil {
		return err
	}
	if asked := web.From(r.Context()).Asked; asked != nil {
		for _, field := range fieldsOf(to) {
			asked(web.InBody, field)
		}
	}
	if !utf8.Valid(text) || !json.Valid(text) {
		return errs.New(errs.Malformed, "Problems parsing JSON")
	}
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return errs.New(errs.Malformed, "Body should be a JSON object")
	}
	return decode(text, to)
}

// readUser reads the user of a body. What it does not say of whether the user is active stays as it is.
func readUser(body *userBody, was *external.Person) *user {
	u := &user{external: body.ExternalID, name: body.UserName, active: was.Active, attributes: body.attributes}
	if body.Active != nil {
		u.active = bool(*body.Active)
	}
	if u.external == "" {
		u.external = was.Subject
	}
	return u
}
