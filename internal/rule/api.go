package rule

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/rulesets
//
// ListRulesets answers a page of the rulesets that apply to the repository, those of the organization last, unless
// includes_parents is false.
func (api *API) ListRulesets(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	parents, err := web.QueryEnum(r, Resource, "includes_parents", "true", "false")
	if err != nil {
		return err
	}
	list, err := api.s.List(r.Context(), OfRepository(a))
	if err != nil {
		return err
	}
	if parents == "true" && a.Owner.Kind == account.Organization {
		more, err := api.s.List(r.Context(), Owner{owner: owner{org: a.OwnerID}})
		if err != nil {
			return err
		}
		list = append(list, slices.DeleteFunc(more, func(s *Ruleset) bool { return !s.appliesIn(a.Name) })...)
	}
	out := []*rulesetJSON{}
	for _, s := range web.Cut(w, r, list) {
		out = append(out, newRulesetJSON(s, sourceOf(a, s), web.From(r.Context())))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /repos/{owner}/{repo}/rulesets/{ruleset_id}
//
// GetRuleset answers a ruleset that applies to the repository. Who may bypass it is shown to those who may change
// it. Error: 404.
func (api *API) GetRuleset(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "ruleset_id")
	if err != nil {
		return err
	}
	s, err := api.s.Get(r.Context(), OfRepository(a), id)
	if errs.Is(err, errs.NotFound) && a.Owner.Kind == account.Organization {
		s, err = api.s.Get(r.Context(), Owner{owner: owner{org: a.OwnerID}}, id)
		if err == nil && !s.appliesIn(a.Name) {
			err = errs.Absent()
		}
	}
	if err != nil {
		return err
	}
	out, err := api.shown(r, a, s, a.Role >= account.Admin && s.OrgID == 0)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// POST /repos/{owner}/{repo}/rulesets
//
// CreateRuleset adds a ruleset. Error: 422, also for rules and conditions that are not enforced.
func (api *API) CreateRuleset(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := readSent(r, false)
	if err != nil {
		return err
	}
	if err := api.s.Create(r.Context(), OfRepository(a), s); err != nil {
		return err
	}
	out, err := api.shown(r, a, s, true)
	if err != nil {
		return err
	}
	return web.Created(w, r, out.Links.Self.Href, out)
}

// PUT /repos/{owner}/{repo}/rulesets/{ruleset_id}
//
// EditRuleset changes a ruleset of the repository; what is not sent stays. Errors: 404, 422.
func (api *API) EditRuleset(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.editRuleset(r, OfRepository(a), false)
	if err != nil {
		return err
	}
	out, err := api.shown(r, a, s, true)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// shown returns a ruleset that applies to a repository, and what it means to the caller.
func (api *API) shown(r *http.Request, a *repo.Access, s *Ruleset, admin bool) (*fullRulesetJSON, error) {
	out := newFullRulesetJSON(s, sourceOf(a, s), admin, web.From(r.Context()))
	word, err := api.s.callersBypass(r.Context(), a, s)
	out.CanBypass = &word
	return out, err
}

// DELETE /repos/{owner}/{repo}/rulesets/{ruleset_id}
//
// DeleteRuleset removes a ruleset of the repository. Error: 404.
func (api *API) DeleteRuleset(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.deleteRuleset(w, r, OfRepository(a))
}

func (api *API) editRuleset(r *http.Request, o Owner, ofOrg bool) (*Ruleset, error) {
	id, err := web.Number(r, "ruleset_id")
	if err != nil {
		return nil, err
	}
	body, err := web.ReadOptional(r, Resource)
	if err != nil {
		return nil, err
	}
	return api.s.Edit(r.Context(), o, id, func(s *Ruleset) error { return ReadChange(body, s, ofOrg) })
}

func (api *API) deleteRuleset(w http.ResponseWriter, r *http.Request, o Owner) error {
	id, err := web.Number(r, "ruleset_id")
	if err != nil {
		return err
	}
	if err := api.s.Delete(r.Context(), o, id); err != nil {
		return err
	}
	return web.NoContent(w)
}

// onOrg returns a handler of an organization's rulesets, for its owners. Errors: 403, 404.
func (api *API) onOrg(h func(w http.ResponseWriter, r *http.Request, o Owner, login string) error) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		login := web.Param(r, "org")
		o, err := api.s.OfOrg(r.Context(), account.CallerFrom(r.Context()), login)
		if err != nil {
			return err
		}
		return h(w, r, o, login)
	}
}

// GET /orgs/{org}/rulesets
//
// ListOrgRulesets answers a page of the organization's rulesets. Errors: 403, 404.
func (api *API) ListOrgRulesets(w http.ResponseWriter, r *http.Request, o Owner, login string) error {
	list, err := api.s.List(r.Context(), o)
	if err != nil {
		return err
	}
	out := []*rulesetJSON{}
	for _, s := range web.Cut(w, r, list) {
		out = append(out, newRulesetJSON(s, login, web.From(r.Context())))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /orgs/{org}/rulesets/{ruleset_id}
//
// GetOrgRuleset answers a ruleset of the organization. Errors: 403, 404.
func (api *API) GetOrgRuleset(w http.ResponseWriter, r *http.Request, o Owner, login string) error {
	id, err := web.Number(r, "ruleset_id")
	if err != nil {
		return err
	}
	s, err := api.s.Get(r.Context(), o, id)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newFullRulesetJSON(s, login, true, web.From(r.Context())))
}

// POST /orgs/{org}/rulesets
//
// CreateOrgRuleset adds a ruleset for repositories of the organization. Errors: 403, 404, 422.
func (api *API) CreateOrgRuleset(w http.ResponseWriter, r *http.Request, o Owner, login string) error {
	s, err := readSent(r, true)
	if err != nil {
		return err
	}
	if err := api.s.Create(r.Context(), o, s); err != nil {
		return err
	}
	out := newFullRulesetJSON(s, login, true, web.From(r.Context()))
	return web.Created(w, r, out.Links.Self.Href, out)
}

// PUT /orgs/{org}/rulesets/{ruleset_id}
//
// EditOrgRuleset changes a ruleset of the organization; what is not sent stays. Errors: 403, 404, 422.
func (api *API) EditOrgRuleset(w http.ResponseWriter, r *http.Request, o Owner, login string) error {
	s, err := api.editRuleset(r, o, true)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newFullRulesetJSON(s, login, true, web.From(r.Context())))
}

// DELETE /orgs/{org}/rulesets/{ruleset_id}
//
// DeleteOrgRuleset removes a ruleset of the organization. Errors: 403, 404.
func (api *API) DeleteOrgRuleset(w http.ResponseWriter, r *http.Request, o Owner, _ string) error {
	return api.deleteRuleset(w, r, o)
}

// GET /repos/{owner}/{repo}/rules/branches/{branch...}
//
// ListRules answers the active rules of rulesets that apply to a branch, which need not exist.
func (api *API) ListRules(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	book, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*rulebook, error) {
		return readRulebook(tx, a.ID)
	})
	if err != nil {
		return err
	}
	list := []appliedJSON{}
	for _, s := range book.on(git.Heads + web.Param(r, "branch")) {
		if s.Protection || s.Enforcement != Active {
			continue
		}
		for _, rule := range s.Rules {
			p, err := parametersJSON(&rule)
			if err != nil {
				return err
			}
			list = append(list, appliedJSON{rule.Kind, p, s.sourceType(), sourceOf(a, s), s.ID})
		}
	}
	return web.JSON(w, r, http.StatusOK, web.Cut(w, r, list))
}

func parametersJSON(r *Rule) (json.RawMessage, error) {
	if r.Parameters == nil {
		return nil, nil
	}
	return json.Marshal(r.Parameters)
}

// readSent reads the new ruleset of a request.
func readSent(r *http.Request, ofOrg bool) (*Ruleset, error) {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return nil, err
	}
	return ReadNew(body, ofOrg)
}

// ReadNew reads a new ruleset of a repository, or of an organization. Error: 422.
func ReadNew(body *web.Object, ofOrg bool) (*Ruleset, error) {
	body.Require("name", "enforcement")
	s := &Ruleset{Target: Branches, Body: Body{Refs: Names{[]string{}, []string{}}, Rules: []Rule{}, Bypass: []Actor{}}}
	return s, ReadChange(body, s, ofOrg)
}

// ReadChange changes a ruleset by the values that are sent. Error: 422.
func ReadChange(body *web.Object, s *Ruleset, ofOrg bool) error {
	if name := body.String("name", maxName); name.Given() {
		s.Name = name.Value
	}
	if target := body.Enum("target", targets[1:]...); target.Given() {
		s.Target = Target(max(0, slices.Index(targets[:], target.Value)))
	}
	if level := body.Enum("enforcement", enforcements[:]...); level.Given() {
		s.Enforcement = Enforcement(max(0, slices.Index(enforcements[:], level.Value)))
	}
	if raw := given(body, "rules"); raw != nil {
		s.Rules = []Rule{}
		if err := json.Unmarshal(raw, &s.Rules); err != nil {
			body.Wrong("rules", errs.Custom, reasonOf(err, "rules must be an array of objects"))
		}
	}
	if raw := given(body, "bypass_actors"); raw != nil {
		readBypass(body, raw, s)
	}
	if raw := given(body, "conditions"); raw != nil {
		readConditions(body, raw, s, ofOrg)
	}
	return body.Err()
}

func given(body *web.Object, field string) json.RawMessage {
	if raw := body.Raw(field); len(raw) > 0 && string(raw) != "null" {
		return raw
	}
	return nil
}

// reasonOf returns the text of an error about a rule, which UnmarshalJSON made, else another text.
func reasonOf(err error, other string) string {
	switch err.(type) {
	case *json.UnmarshalTypeError, *json.SyntaxError:
		return other
	}
	return err.Error()
}

func readBypass(body *web.Object, raw json.RawMessage, s *Ruleset) {
	var list []struct {
		ID   *int64    `json:"actor_id"`
		Type ActorType `json:"actor_type"`
		Mode string    `json:"bypass_mode"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		body.Wrong("bypass_actors", errs.Custom,
			"bypass_actors must be an array of objects of actor_id, actor_type, bypass_mode")
		return
	}
	s.Bypass = []Actor{}
	for _, a := range list {
		actor := Actor{Type: a.Type, Mode: a.Mode}
		if a.ID != nil {
			actor.ID = *a.ID
		}
		if actor.Mode == "" {
			actor.Mode = always
		}
		s.Bypass = append(s.Bypass, actor)
	}
}

func readConditions(body *web.Object, raw json.RawMessage, s *Ruleset, ofOrg bool) {
	var c struct {
		Refs  *Names `json:"ref_name"`
		Repos *struct {
			Names
			Protected bool `json:"protected"`
		} `json:"repository_name"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		body.Wrong("conditions", errs.Custom, "conditions may have ref_name and, of an organization, "+
			"repository_name, each with include and exclude")
		return
	}
	if c.Refs != nil {
		s.Refs = c.Refs.filled()
	}
	switch {
	case c.Repos != nil && !ofOrg:
		body.Wrong("conditions", errs.Custom, "repository_name is a condition of organizations")
	case c.Repos != nil && c.Repos.Protected:
		body.Wrong("conditions", errs.Custom, "protected is not supported")
	case c.Repos != nil:
		s.Repos = new(c.Repos.Names.filled())
	}
}

// filled returns the names with lists that are not nil.
func (n Names) filled() Names {
	return Names{append([]string{}, n.Include...), append([]string{}, n.Exclude...)}
}
