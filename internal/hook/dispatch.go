package hook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Bounds of a repository_dispatch, as at GitHub.
const (
	maxEventType  = 100
	maxProperties = 10
	maxClient     = 64 << 10 // bytes
	maxDepth      = 100      // nesting of objects and arrays; payloads add more levels
)

// POST /repos/{owner}/{repo}/dispatches
//
// Dispatch sends a client's event to the hooks that subscribe to repository_dispatch:
// event_type, and an object of its own, client_payload. Errors: 422.
func (api *API) Dispatch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	const resource = "RepositoryDispatch"
	body, err := web.ReadObject(r, resource)
	if err != nil {
		return err
	}
	body.Require("event_type")
	kind := body.String("event_type", maxEventType)
	client := json.RawMessage("{}")
	if raw := body.Raw("client_payload"); raw != nil && string(raw) != "null" {
		var fields map[string]json.RawMessage
		var compact bytes.Buffer
		switch {
		case json.Unmarshal(raw, &fields) != nil || json.Compact(&compact, raw) != nil:
			body.Wrong("client_payload", errs.InvalidField, `"client_payload" must be an object`)
		case len(fields) > maxProperties:
			body.Wrong("client_payload", errs.Custom, "No more than 10 properties are allowed; "+
				strconv.FormatInt(int64(len(fields)), 10)+" were supplied.")
		case compact.Len() > maxClient:
			body.Wrong("client_payload", errs.Custom, "client_payload is too large")
		case depth(raw) > maxDepth:
			body.Wrong("client_payload", errs.Custom,
				"client_payload is nested too deeply (maximum is "+strconv.FormatInt(maxDepth, 10)+")")
		case bytes.Contains(compact.Bytes(), []byte(`\u0000`)):
			body.Wrong("client_payload", errs.InvalidField, "client_payload must not contain NUL")
		}
		client = compact.Bytes()
	}
	if err := body.Err(); err != nil {
		return err
	}
	err = api.s.db.WriteAs(r.Context(), a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		return recordDispatch(tx, a.ID, Event{Name: Dispatch, Action: kind.Value,
			Actor: account.IDOf(a.Caller),
			About: About{Ref: a.DefaultBranch, Parts: map[string]json.RawMessage{"client_payload": client}}})
	})
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// depth returns the nesting depth of a JSON text.
func depth(text []byte) (most int) {
	n, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			n++
			most = max(most, n)
		case c == '}' || c == ']':
			n--
		}
	}
	return most
}
