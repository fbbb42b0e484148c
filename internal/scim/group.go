package scim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/external"
	"arbor/internal/web"
)

// member is a member of a group as a provider sends it. What else it says is not read.
type member struct {
	Value string `json:"value"`
}

// members are some of them; one may stand alone.
type members []member

// UnmarshalJSON implements json.Unmarshaler.
func (m *members) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		text = append(append([]byte{'['}, text...), ']')
	}
	*m = nil
	return eachOf(text, external.MaxMembers, "a group has at most %d members", func(one member) { *m = append(*m, one) })
}

// groupBody is a group as a provider sends it.
type groupBody struct {
	ExternalID string  `json:"externalId"`
	Display    string  `json:"displayName"`
	Members    members `json:"members"`
}

// memberPayload is a member of a group.
type memberPayload struct {
	Value   string `json:"value"`
	Ref     string `json:"$ref"`
	Display string `json:"display"`
	Type    string `json:"type"`
}

// groupPayload is a group as SCIM has it.
type groupPayload struct {
	Schemas    []string        `json:"schemas"`
	ID         string          `json:"id"`
	ExternalID string          `json:"externalId,omitempty"`
	Display    string          `json:"displayName,omitempty"`
	Members    []memberPayload `json:"members,omitempty"`
	Meta       *meta           `json:"meta,omitempty"`
}

var groupColumns = map[string]external.Column{"id": external.ByID, "externalid": external.ByGroupID,
	"displayname": external.ByGroupName}

// groupPayload renders a group with the attributes that a request asks for.
func (c *call) groupPayload(g *external.Group, asked page) *groupPayload {
	out := &groupPayload{Schemas: []string{groupSchema}, ID: groupID + strconv.FormatInt(g.ID, 10)}
	if asked.sends("externalId") {
		out.ExternalID = g.ExternalID
	}
	if asked.sends("displayName") {
		out.Display = g.Name
	}
	if asked.sends("members") {
		at := c.info.API("/scim/v2/Users/")
		for _, p := range g.Members {
			id := userID + strconv.FormatInt(p.ID, 10)
			out.Members = append(out.Members, memberPayload{id, at + id, p.UserName, "User"})
		}
	}
	if asked.sends("meta") {
		out.Meta = &meta{"Group", stamp(g.CreatedAt.Time()), stamp(g.UpdatedAt.Time()), c.info.API("/scim/v2/Groups/" + out.ID)}
	}
	return out
}

// put writes a body into an edit. Errors: 400, 413.
func (b *groupBody) put(e *external.GroupEdit) error {
	if err := checkText("displayName", b.Display); err != nil {
		return err
	}
	if strings.TrimSpace(b.Display) == "" {
		return bad("displayName is missing")
	}
	if err := checkText("externalId", b.ExternalID); err != nil {
		return err
	}
	e.Name, e.ExternalID, e.Members = b.Display, b.ExternalID, map[int64]bool{}
	return addMembers(e, b.Members)
}

// addMembers adds members to an edit. Errors: 400, 413.
func addMembers(e *external.GroupEdit, list members) error {
	for _, m := range list {
		id := parseID(userID, m.Value)
		if id == 0 {
			return bad("members has the value %q, which is not the id of a user", errs.Clip(m.Value))
		}
		e.Members[id] = true
	}
	return nil
}

// patchGroup applies an operation to an edit. Errors: 400, 413.
func patchGroup(e *external.GroupEdit, op string, at path, value json.RawMessage) (err error) {
	switch at.attribute {
	case "displayname":
		if op == remove {
			return wrong("mutability", "a group has a displayName")
		}
		e.Name, err = readText("displayName", value)
		if err == nil && strings.TrimSpace(e.Name) == "" {
			err = bad("displayName is empty")
		}
		return err
	case "externalid":
		if op == remove {
			value = nil
		}
		e.ExternalID, err = readText("externalId", value)
		return err
	case "members":
		return patchMembers(e, op, at, value)
	}
	return nil // an attribute that groups do not have here
}

// patchMembers adds, replaces or removes members.
func patchMembers(e *external.GroupEdit, op string, at path, value json.RawMessage) error {
	if at.filter != nil {
		if op != remove || at.sub != "" || len(at.filter) != 1 || at.filter[0].attribute != "value" {
			return wrong(badPath, `members[value eq "ID"] can only be removed`)
		}
		text, _ := at.filter[0].value.(string)
		delete(e.Members, parseID(userID, text))
		return nil
	}
	var list members
	if !isNull(value) {
		if err := decode(value, &list); err != nil {
			return err
		}
	}
	switch {
	case op == remove && len(list) == 0, op == replace:
		clear(e.Members)
	case op == remove:
		for _, m := range list {
			delete(e.Members, parseID(userID, m.Value))
		}
		return nil
	}
	return addMembers(e, list)
}

// GET /scim/v2/Groups
//
// ListGroups answers groups of the provider by id. filter chooses by id, externalId and displayName; the other
// parameters are those of ListUsers. There may be fewer than count where they have many members. Errors: 400, 403.
func (a *API) ListGroups(w http.ResponseWriter, r *http.Request) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	asked, err := readPage(r, groupColumns, groupID)
	if err != nil {
		return err
	}
	list, total, err := a.s.ListGroups(r.Context(), c.of, asked.where, asked.start-1, asked.count, asked.sends("members"))
	if err != nil {
		return err
	}
	out := make([]any, len(list))
	for i, g := range list {
		out[i] = c.groupPayload(g, asked)
	}
	return answer(w, r, http.StatusOK, newList(total, asked.start, out))
}

// POST /scim/v2/Groups
//
// CreateGroup stores a group; its members get what the sign-in file gives to groups of that name. Errors: 400, 403,
// 409, 413.
func (a *API) CreateGroup(w http.ResponseWriter, r *http.Request) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	var body groupBody
	if err := readBody(r, &body); err != nil {
		return err
	}
	var e external.GroupEdit
	if err := body.put(&e); err != nil {
		return err
	}
	g, err := a.s.AddGroup(r.Context(), c.by, c.of, e)
	if err != nil {
		return err
	}
	if g, err = a.s.Group(r.Context(), c.of, g.ID, true); err != nil {
		return err
	}
	out := c.groupPayload(g, page{})
	return created(w, r, out.Meta.Location, out)
}

// GET /scim/v2/Groups/{scim_group_id}
//
// GetGroup answers a group; excludedAttributes=members spares its members. Errors: 403, 404.
func (a *API) GetGroup(w http.ResponseWriter, r *http.Request) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	id, err := idOf(r, "scim_group_id", groupID)
	if err != nil {
		return err
	}
	return a.answerGroup(w, r, &c, id)
}

func (a *API) answerGroup(w http.ResponseWriter, r *http.Request, c *call, id int64) error {
	var asked page
	asked.without, asked.only = readAttributes(web.QueryOf(r))
	g, err := a.s.Group(r.Context(), c.of, id, asked.sends("members"))
	if err != nil {
		return err
	}
	return answer(w, r, http.StatusOK, c.groupPayload(g, asked))
}

// PUT /scim/v2/Groups/{scim_group_id}
//
// ReplaceGroup replaces a group with its members. Errors: 400, 403, 404, 409, 413.
func (a *API) ReplaceGroup(w http.ResponseWriter, r *http.Request) error {
	var body groupBody
	c, id, err := a.changeGroup(r, &body, func(e *external.GroupEdit) error { return body.put(e) })
	if err != nil {
		return err
	}
	return a.answerGroup(w, r, &c, id)
}

// PATCH /scim/v2/Groups/{scim_group_id}
//
// PatchGroup applies operations to a group: all of them or none. It answers nothing, since a group may be large.
// Errors: 400, 403, 404, 409, 413.
func (a *API) PatchGroup(w http.ResponseWriter, r *http.Request) error {
	var body patchBody
	_, _, err := a.changeGroup(r, &body, func(e *external.GroupEdit) error {
		err := body.apply(func(op string, at path, value json.RawMessage) error { return patchGroup(e, op, at, value) })
		if err != nil {
			return err
		}
		return checkText("displayName", e.Name)
	})
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// changeGroup changes a group as a body says.
func (a *API) changeGroup(r *http.Request, body any, change func(*external.GroupEdit) error) (c call, id int64, err error) {
	if c, err = a.from(r); err != nil {
		return c, 0, err
	}
	if id, err = idOf(r, "scim_group_id", groupID); err != nil {
		return c, 0, err
	}
	if err := readBody(r, body); err != nil {
		return c, 0, err
	}
	return c, id, a.s.ChangeGroup(r.Context(), c.by, c.of, id, change)
}

// DELETE /scim/v2/Groups/{scim_group_id}
//
// DeleteGroup forgets a group; its members lose what it gave. Errors: 403, 404.
func (a *API) DeleteGroup(w http.ResponseWriter, r *http.Request) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	id, err := idOf(r, "scim_group_id", groupID)
	if err != nil {
		return err
	}
	if err := a.s.RemoveGroup(r.Context(), c.by, c.of, id); err != nil {
		return err
	}
	return web.NoContent(w)
}
