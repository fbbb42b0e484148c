package pull

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// resultJSON is the response of a merge.
type resultJSON struct {
	SHA     string `json:"sha"`
	Merged  bool   `json:"merged"`
	Message string `json:"message"`
}

// PUT /repos/{owner}/{repo}/pulls/{number}/merge
//
// Merge merges a pull request. Title and method of the commit are a preview. Errors: 404; 405 if it cannot
// be merged, 409 if its head is not the given sha (decision 37).
func (api *API) Merge(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	o, err := readMerge(r)
	if err != nil {
		return err
	}
	sha, err := api.s.Merge(r.Context(), a, number, o)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, resultJSON{string(sha), true, "Pull Request successfully merged"})
}

func readMerge(r *http.Request) (MergeOptions, error) {
	var o MergeOptions
	body, err := web.ReadOptional(r, Resource)
	if err != nil {
		return o, err
	}
	if m := body.String("commit_message", maxMessage); m.Given() {
		o.Message = &m.Value
	}
	o.SHA = body.String("sha", 0).Value
	info := web.From(r.Context())
	if info.Media.Preview(web.SquashWith) {
		if t := body.String("commit_title", maxMessage); t.Given() {
			o.Title = &t.Value
		}
		if body.Bool("squash").Or(false) {
			o.Method = Squash
		}
	}
	if info.Media.Graduated {
		switch body.Enum("merge_method", methods[:]...).Value {
		case "squash":
			o.Method = Squash
		case "rebase":
			o.Method = Rebase
		case "merge":
			if o.Method == Squash {
				body.Wrong("merge_method", errs.InvalidField,
					"merge_method and squash cannot contradict each other")
			}
		}
	}
	return o, body.Err()
}
