package checkrun

import (
	"context"
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Brief is a run in lists for pages: without its texts, of which those of a hundred runs may take many megabytes, and
// of its App the name.
type Brief struct {
	ID          int64
	SHA         git.SHA
	Name        string
	Status      Status
	Conclusion  Conclusion // 0: none yet
	StartedAt   db.Time
	CompletedAt db.Time // zero: it is not
	Title       *string
	Annotations int64
	App         string // its name; empty: it is gone
}

const briefColumns = `r.head_sha, r.id, r.name, r.status, r.conclusion, r.started_at, r.completed_at, r.title, r.annotations,
	COALESCE((SELECT a.name FROM apps a WHERE a.id = r.app_id), '')`

// scanBrief reads briefColumns.
func scanBrief(row db.Scanner) (*Brief, error) {
	var b Brief
	err := row.Scan(&b.SHA, &b.ID, &b.Name, &b.Status, &b.Conclusion, &b.StartedAt, &b.CompletedAt,
		&b.Title, &b.Annotations, &b.App)
	return &b, err
}

// Latest reads a page of the latest runs of a commit, the newest first, and how many there are. The commit was found
// for the caller before.
func (s *Service) Latest(
	ctx context.Context, a *repo.Access, sha git.SHA, at web.Page,
) (list []*Brief, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, total, err = runsOf(tx, scanBrief, briefColumns, a.ID, &filter{sha: sha}, at)
		return err
	})
	return list, total, err
}

// LatestOfEach reads the latest runs of each of the commits as Latest does, the first so many.
func (s *Service) LatestOfEach(
	ctx context.Context, a *repo.Access, shas []git.SHA, size int64,
) (map[git.SHA]*web.List[*Brief], error) {
	var runs []*Brief
	var totals map[git.SHA]int64
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		runs = nil
		if totals, err = countOfMany(tx, a.ID, shas); err == nil && len(totals) > 0 {
			runs, err = latestOfMany(tx, scanBrief, briefColumns, a.ID, shas, size)
		}
		return err
	})
	out := map[git.SHA]*web.List[*Brief]{}
	for _, sha := range shas {
		out[sha] = &web.List[*Brief]{Total: totals[sha]}
	}
	for _, b := range runs {
		out[b.SHA].Rows = append(out[b.SHA].Rows, b)
	}
	return out, err
}

// maxMany is the number of commits in one request of ListManyBrief.
const maxMany = 100

// ListManyBrief answers what LatestOfEach finds of the commits of the parameter shas, for the pages of commits.
func (api *API) ListManyBrief(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	shas := git.ParseSHAs(web.QueryOf(r).Get("shas"), maxMany)
	found, err := api.s.LatestOfEach(r.Context(), a, shas, web.ReadPageSize(r))
	if err != nil {
		return err
	}
	type brief struct {
		ID         int64          `json:"id"`
		Name       string         `json:"name"`
		HTMLURL    string         `json:"html_url"`
		Status     string         `json:"status"`
		Conclusion string         `json:"conclusion"`
		Output     map[string]any `json:"output"`
		App        map[string]any `json:"app"`
	}
	type briefs struct {
		Total int64   `json:"total_count"`
		Runs  []brief `json:"check_runs"`
	}
	out, at := map[git.SHA]briefs{}, newView(r.Context(), a).at
	for sha, list := range found {
		of := briefs{Total: list.Total}
		for _, b := range list.Rows {
			of.Runs = append(of.Runs, brief{b.ID, b.Name, at.Page + "/runs/" + strconv.FormatInt(b.ID, 10),
				b.Status.String(), b.Conclusion.String(), map[string]any{"title": b.Title},
				map[string]any{"name": b.App}})
		}
		out[sha] = of
	}
	return web.JSON(w, r, http.StatusOK, out)
}
