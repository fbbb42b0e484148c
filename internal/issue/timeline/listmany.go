package timeline

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxMany is of how many issues one request asks for the timelines.
const maxMany = 100

// ListMany answers the timelines of the issues of the parameter numbers, for GraphQL: an object with a list for each, as
// GET /repos/{owner}/{repo}/issues/{number}/timeline has it, and one entry more where there are more than the page holds.
// Issues that are not there, or switched off, have none. Error: 422 for a page beyond the first 5,000 entries.
func (api *API) ListMany(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	numbers := web.ParseNumbers(web.QueryOf(r).Get("numbers"), maxMany)
	page := web.ReadPage(r)
	if err := checkDeep(page); err != nil {
		return err
	}
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		ctx := out.Context()
		var t *timeline
		var of []int64 // the numbers of the issues that the entries are of
		err := api.db.Read(ctx, func(tx *db.Tx) error {
			found, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
			if err != nil {
				return err
			}
			var list []*issue.Issue
			for _, i := range found {
				if issue.Enabled(a.Repo, i) == nil {
					list = append(list, i)
				}
			}
			t = &timeline{}
			if t.entries, of, err = readTimelines(tx, a, list, page); err != nil {
				return err
			}
			return t.read(ctx, tx, a, api.reviews)
		})
		if err == nil {
			err = t.prepare(out, api, a)
		}
		if err != nil {
			return err
		}
		lists := map[string][]any{}
		for n, e := range t.entries {
			shown, err := t.payload(e)
			if err != nil {
				return err
			}
			key := strconv.FormatInt(of[n], 10)
			lists[key] = append(lists[key], shown)
		}
		return out.JSON(lists)
	})
}

// readTimelines reads a page, and one entry more, of the timeline of each of some issues, as readTimeline does; of has the
// numbers of the issues that the entries are of.
func readTimelines(tx *db.Tx, a *repo.Access, issues []*issue.Issue, p web.Page) (list []entry, of []int64, err error) {
	if len(issues) == 0 {
		return nil, nil, nil
	}
	args := []any{account.IDOf(a.Caller), issues[0].ID, int64(issue.EventCrossReferenced), a.ID, p.Offset() + p.Size + 1,
		p.Size + 1, p.Offset()}
	parts := make([]string, len(issues))
	for n, i := range issues {
		at := `$2`
		if n > 0 {
			args = append(args, i.ID)
			at = `$` + strconv.Itoa(len(args))
		}
		number := strconv.FormatInt(i.Number, 10)
		parts[n] = `SELECT * FROM (SELECT ` + number + ` AS number, x.* FROM (
				SELECT e.created_at AS at, 1 AS kind, e.id AS id FROM issue_events e
				WHERE ` + strings.Replace(seen(a), `$2`, at, 1) + ` ORDER BY e.created_at, e.id LIMIT $5) x
			UNION ALL SELECT ` + number + `, y.* FROM (
				SELECT c.created_at, 0, c.id FROM issue_comments c
				WHERE c.issue_id = ` + at + ` ORDER BY c.created_at, c.id LIMIT $5) y
			ORDER BY 2, 3, 4 LIMIT $6 OFFSET $7) p` + strconv.Itoa(n)
	}
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var number, at, kind int64
		var e entry
		if err := row.Scan(&number, &at, &kind, &e.id); err != nil {
			return err
		}
		e.comment = kind == 0
		list, of = append(list, e), append(of, number)
		return nil
	}, strings.Join(parts, ` UNION ALL `)+` ORDER BY 1, 2, 3, 4`, args...)
	return list, of, err
}
