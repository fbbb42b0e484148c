package timeline

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// partSize is how many entries a part of a timeline has; shortEnd is how few of them are too few to be shown
// alone.
const (
	partSize = 50
	shortEnd = partSize / 2
)

// Ends answers the beginning and the end of a timeline, for pages, and loads what both show at once. The body
// has the first part; the last one, after the one before it where it is short; and next and until: the parts
// from next to before until are left out, which GET /repos/{owner}/{repo}/issues/{number}/timeline has with
// per_page=50. Errors: 404, 410.
func (api *API) Ends(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	return api.answers.ServeCallerIn(w, r, a, "ends", func(out *web.Output) error {
		var t *timeline
		var e *ends
		err := api.db.Read(out.Context(), func(tx *db.Tx) error {
			i, err := issue.EnabledByNumber(tx, a, n)
			if err != nil {
				return err
			}
			if e, err = readEnds(tx, a, i); err != nil {
				return err
			}
			t = &timeline{entries: e.entries, beside: append(i.People(), a.OwnerID)}
			return t.read(out.Context(), tx, a, api.reviews)
		})
		if err == nil {
			err = t.prepare(out, api, a)
		}
		if err != nil {
			return err
		}
		shown := endsPayload{First: []any{}, Last: []any{}, Next: e.next, Until: e.until}
		for n, entry := range e.entries {
			one, err := t.payload(entry)
			if err != nil {
				return err
			}
			if n < e.first {
				shown.First = append(shown.First, one)
			} else {
				shown.Last = append(shown.Last, one)
			}
		}
		return out.JSON(shown)
	})
}

type endsPayload struct {
	First []any `json:"first"`
	Last  []any `json:"last"`
	Next  int64 `json:"next"` // 0: nothing is left out
	Until int64 `json:"until"`
}

// ends are the entries at both ends of a timeline: the first ones, and those after what is left out.
type ends struct {
	entries     []entry
	first       int   // so many are of the beginning
	next, until int64 // the parts that are left out; 0: none
}

// readEnds reads which entries the ends of a timeline have, in one statement. Of events the first maxDeep
// count, as in pages: what is beyond them is reached from the end alone.
func readEnds(tx *db.Tx, a *repo.Access, i *issue.Issue) (*ends, error) {
	rows, err := tx.Query(`SELECT p.part, p.at, p.kind, p.id, n.total FROM (
			SELECT 1 AS part, f.* FROM (SELECT * FROM (SELECT e.created_at AS at, 1 AS kind, e.id AS id
			FROM issue_events e WHERE `+seen(a)+`
					ORDER BY e.created_at, e.id LIMIT $5) fe
				UNION ALL SELECT * FROM (SELECT c.created_at, 0, c.id FROM issue_comments c
				WHERE c.issue_id = $2
					ORDER BY c.created_at, c.id LIMIT $5) fc
				ORDER BY 1, 2, 3 LIMIT $5) f
			UNION ALL SELECT 2, l.* FROM (SELECT * FROM (SELECT e.created_at AS at, 1 AS kind, e.id AS id
			FROM issue_events e WHERE `+seen(a)+`
					ORDER BY e.created_at DESC, e.id DESC LIMIT $6) le
				UNION ALL SELECT * FROM (SELECT c.created_at, 0, c.id FROM issue_comments c
				WHERE c.issue_id = $2
					ORDER BY c.created_at DESC, c.id DESC LIMIT $6) lc
				ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT $6) l) p,
			(SELECT count(*) AS total FROM (SELECT 1 FROM issue_events e WHERE `+seen(a)+` LIMIT $7) t) n
		ORDER BY 1, 2, 3, 4`,
		account.IDOf(a.Caller), i.ID, int64(issue.EventCrossReferenced), a.ID, partSize, 2*partSize, maxDeep)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var first, last []entry
	var events int64
	for rows.Next() {
		var part, at, kind int64
		var e entry
		if err := rows.Scan(&part, &at, &kind, &e.id, &events); err != nil {
			return nil, err
		}
		e.comment = kind == 0
		if part == 1 {
			first = append(first, e)
		} else {
			last = append(last, e)
		}
	}
	return joinEnds(first, last, events+i.Comments), rows.Err()
}

// joinEnds puts the ends of a timeline of so many entries together. last ends with the timeline, and has two
// parts or all.
func joinEnds(first, last []entry, total int64) *ends {
	e := &ends{first: len(first)}
	if total <= int64(len(first)) {
		e.entries = first
		return e
	}
	e.next, e.until = 2, (total+partSize-1)/partSize
	if total-(e.until-1)*partSize < shortEnd && e.until > 2 {
		e.until--
	}
	begin := (e.until - 1) * partSize // of the end
	if e.until <= 2 {
		e.next, e.until = 0, 0
	}
	if total >= maxDeep {
		e.until, begin = maxDeep/partSize+1, total-partSize
	}
	e.entries = append(first, last[max(0, int64(len(last))-(total-begin)):]...)
	return e
}
