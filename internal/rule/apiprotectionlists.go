package rule

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/branches/{branch...}/protection/required_status_checks/contexts
//
// ListContexts answers the names of the required status checks. Error: 404.
func (api *API) ListContexts(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, err := api.withChecks(r, a)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, p.Checks.Contexts())
}

// change is what a request does with a list.
type change func(now, given []string) []string

func added(now, given []string) []string  { return unique(slices.Concat(now, given)) }
func replaced(_, given []string) []string { return unique(given) }
func subtracted(now, given []string) []string {
	return slices.DeleteFunc(slices.Clone(now), func(one string) bool { return slices.Contains(given, one) })
}

func unique(list []string) []string {
	out := []string{}
	for _, one := range list {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// POST /repos/{owner}/{repo}/branches/{branch...}/protection/required_status_checks/contexts
//
// AddContexts requires more status checks. Errors: 404, 422.
func (api *API) AddContexts(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changeContexts(w, r, a, added)
}

// PUT /repos/{owner}/{repo}/branches/{branch...}/protection/required_status_checks/contexts
//
// SetContexts requires these status checks and no others. Errors: 404, 422.
func (api *API) SetContexts(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changeContexts(w, r, a, replaced)
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection/required_status_checks/contexts
//
// RemoveContexts requires some status checks no more. Errors: 404, 422.
func (api *API) RemoveContexts(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changeContexts(w, r, a, subtracted)
}

func (api *API) changeContexts(w http.ResponseWriter, r *http.Request, a *repo.Access, change change) error {
	given, err := readNames(r, "contexts")
	if err != nil {
		return err
	}
	p, err := api.edit(r, a, func(_ *db.Tx, p *Protection) error {
		if p.Checks == nil {
			return errOff("Required status checks")
		}
		checks := *p.Checks
		checks.SetContexts(change(p.Checks.Contexts(), given))
		p.Checks = &checks
		return nil
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, p.Checks.Contexts())
}

// GET /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions
//
// GetRestrictions answers who may push to the branch. Error: 404, also if everybody with push access may.
func (api *API) GetRestrictions(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, err := api.restricted(r, a)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return v.restrictions() })
}

func (api *API) restricted(r *http.Request, a *repo.Access) (*Protection, error) {
	p, err := api.find(r, a)
	if err == nil && !p.Restricted {
		err = errOff("Push restrictions")
	}
	return p, err
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions
//
// DropRestrictions lets everybody with push access push. Error: 404.
func (api *API) DropRestrictions(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.remove(w, r, a, func(p *Protection) { p.Restricted, p.Pushers = false, Actors{} })
}

// readNames reads the names of a body, which may also be just the array, as at GitHub.
func readNames(r *http.Request, field string) ([]string, error) {
	raw, err := web.ReadBody(r)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) && json.Valid(raw) {
		raw = slices.Concat([]byte(`{"`+field+`":`), raw, []byte("}"))
	}
	body, err := web.ParseBody(r, raw, protectionResource)
	if err != nil {
		return nil, err
	}
	body.Require(field)
	names := body.Strings(field, maxListed, maxStatusName)
	return names.Value, body.Err()
}
