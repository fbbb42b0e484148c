// Package scim implements SCIM 2.0 (RFC 7643, RFC 7644), by which an identity provider creates, changes and removes
// the people and groups of a site: leavers are suspended at once. Package external stores them and owns what
// follows.
//
//	GET, POST /scim/v2/Users, /scim/v2/Groups                       useraction.go, group.go
//	GET, PUT, PATCH, DELETE /scim/v2/Users/{scim_user_id}, ...      useraction.go, group.go
//	GET /scim/v2/ServiceProviderConfig, ResourceTypes, Schemas      discovery.go
//
//	user.go       how users are sent and answered
//	patch.go      operations of a PATCH on a user; those on a group are in group.go
//	filter.go     filters and paths, which are strangers' text and bounded
//	errors.go     the form of errors
//
// The addresses are GitHub Enterprise Server's. The caller is a site administrator whom a provider of the sign-in
// file names (scim.account), with a token of the scope scim:enterprise: a token sees the people of its provider
// alone, and to it those of another do not exist. An id is "user-7" or "group-7", so that one is never taken for
// the other.
//
// What identity providers send differs from the standard, and is understood as well: operations in capitals,
// booleans as strings, a single value in place of a list, paths as keys of a value. Attributes that Arbor does not
// have are ignored.
package scim

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/external"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Bounds of requests and answers.
const (
	maxBody       = 4 << 20
	maxOperations = 5000
	maxValues     = 20  // of an attribute of a user
	usualPage     = 30  // as GitHub's
	maxPage       = 200 // users or groups
)

// Schemas of messages and resources.
const (
	userSchema  = "urn:ietf:params:scim:schemas:core:2.0:User"
	groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group"
	listSchema  = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
	errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error"
	mediaType   = "application/scim+json; charset=utf-8"
)

// API implements the HTTP handlers of SCIM.
type API struct{ s *external.Service }

// NewAPI returns the handlers of s.
func NewAPI(s *external.Service) *API { return &API{s} }

// Routes are the endpoints of SCIM.
func (a *API) Routes() []route.Route {
	needs := route.Needs(scope.SCIM, route.Never)
	list := []route.Route{
		needs.SiteAdmin("GET /scim/v2/Users", a.ListUsers),
		needs.SiteAdmin("POST /scim/v2/Users", a.CreateUser),
		needs.SiteAdmin("GET /scim/v2/Users/{scim_user_id}", a.GetUser),
		needs.SiteAdmin("PUT /scim/v2/Users/{scim_user_id}", a.ReplaceUser),
		needs.SiteAdmin("PATCH /scim/v2/Users/{scim_user_id}", a.PatchUser),
		needs.SiteAdmin("DELETE /scim/v2/Users/{scim_user_id}", a.DeleteUser),
		needs.SiteAdmin("GET /scim/v2/Groups", a.ListGroups),
		needs.SiteAdmin("POST /scim/v2/Groups", a.CreateGroup).WithLimit(maxBody),
		needs.SiteAdmin("GET /scim/v2/Groups/{scim_group_id}", a.GetGroup),
		needs.SiteAdmin("PUT /scim/v2/Groups/{scim_group_id}", a.ReplaceGroup).WithLimit(maxBody),
		needs.SiteAdmin("PATCH /scim/v2/Groups/{scim_group_id}", a.PatchGroup).WithLimit(maxBody),
		needs.SiteAdmin("DELETE /scim/v2/Groups/{scim_group_id}", a.DeleteGroup),
		needs.SiteAdmin("GET /scim/v2/ServiceProviderConfig", a.GetConfig),
		needs.SiteAdmin("GET /scim/v2/ResourceTypes", a.ListResourceTypes),
		needs.SiteAdmin("GET /scim/v2/ResourceTypes/{resource_type}", a.GetResourceType),
		needs.SiteAdmin("GET /scim/v2/Schemas", a.ListSchemas),
		needs.SiteAdmin("GET /scim/v2/Schemas/{schema_urn}", a.GetSchema),
	}
	for i := range list {
		list[i] = list[i].ForSCIM()
	}
	return list
}

// call is the caller of a request, and for which source it provisions.
type call struct {
	by   *account.Caller
	of   *external.Source
	info *web.Info
}

// from finds for which source a caller provisions. Error: 403.
func (a *API) from(r *http.Request) (c call, err error) {
	c.by, c.info = account.CallerFrom(r.Context()), web.From(r.Context())
	c.of, err = a.s.ProvisionedBy(c.by)
	return c, err
}

// Prefixes of ids.
const (
	userID  = "user-"
	groupID = "group-"
)

// parseID reads an id; 0: it is none of this kind.
func parseID(prefix, text string) int64 {
	digits, is := strings.CutPrefix(text, prefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !is || err != nil || n <= 0 || strconv.FormatInt(n, 10) != digits {
		return 0
	}
	return n
}

// idOf reads the id of an address. Error: 404.
func idOf(r *http.Request, param, prefix string) (int64, error) {
	id := parseID(prefix, web.Param(r, param))
	if id == 0 {
		return 0, errs.Absent()
	}
	return id, nil
}

// answer answers a resource or a list.
func answer(w http.ResponseWriter, r *http.Request, status int, v any) error {
	w.Header().Set("Content-Type", mediaType)
	return web.JSON(w, r, status, v)
}

// created answers a new resource.
func created(w http.ResponseWriter, r *http.Request, at string, v any) error {
	w.Header().Set("Location", at)
	return answer(w, r, http.StatusCreated, v)
}

// page is the part of a list that a request asks for.
type page struct {
	start, count int64 // start is from 1 on
	where        []external.Condition
	without      map[string]bool // attributes that are not sent, in lower case
	only         map[string]bool // attributes that are sent; nil: all
}

// readPage reads startIndex, count, filter, attributes and excludedAttributes. Error: 400.
func readPage(r *http.Request, columns map[string]external.Column, prefix string) (p page, err error) {
	q := web.QueryOf(r)
	if p.start, err = number(q.Get("startIndex"), "startIndex", 1); err != nil {
		return p, err
	}
	if p.count, err = number(q.Get("count"), "count", usualPage); err != nil {
		return p, err
	}
	p.start, p.count = min(max(p.start, 1), 1<<40), min(max(p.count, 0), maxPage)
	p.without, p.only = readAttributes(q)
	if text := q.Get("filter"); text != "" {
		p.where, err = conditions(text, columns, prefix)
	}
	return p, err
}

// number reads a number of a query. What is too large counts as the greatest. Error: 400.
func number(text, name string, usual int64) (int64, error) {
	if text == "" {
		return usual, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil && (len(text) > 20 || strings.Trim(text, "-0123456789") != "" || strings.LastIndexByte(text, '-') > 0) {
		return 0, bad("%s must be a number", name)
	}
	return n, nil
}

// readAttributes reads which attributes of resources are sent: they are at the top.
func readAttributes(q web.Query) (without, only map[string]bool) {
	read := func(name string) (set map[string]bool) {
		for word := range strings.SplitSeq(q.Get(name), ",") {
			if word = strings.ToLower(withoutSchema(strings.TrimSpace(word))); word == "" || len(set) == 100 {
				continue
			}
			if set == nil {
				set = map[string]bool{}
			}
			word, _, _ = strings.Cut(word, ".")
			set[word] = true
		}
		return set
	}
	return read("excludedAttributes"), read("attributes")
}

// sends reports whether an attribute is sent.
func (p *page) sends(attribute string) bool {
	attribute = strings.ToLower(attribute)
	return !p.without[attribute] && (p.only == nil || p.only[attribute])
}

// listPayload is a list of resources.
type listPayload struct {
	Schemas   []string `json:"schemas"`
	Total     int64    `json:"totalResults"`
	Start     int64    `json:"startIndex"`
	Count     int      `json:"itemsPerPage"`
	Resources []any    `json:"Resources"`
}

func newList(total, start int64, list []any) *listPayload {
	return &listPayload{[]string{listSchema}, total, start, len(list), list}
}

// meta is the member of that name.
type meta struct {
	Type     string `json:"resourceType"`
	Created  string `json:"created,omitempty"`
	Modified string `json:"lastModified,omitempty"`
	Location string `json:"location"`
}
