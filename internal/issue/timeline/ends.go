package timeline

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// PartSize is the number of entries in a part of a timeline. A last part with fewer than shortEnd entries
// is shown together with the part before it.
const (
	PartSize = 50
	shortEnd = PartSize / 2
)

// Ends are the first and last entries of a timeline.
type Ends struct {
	First []*Entry
	Last  []*Entry // the last part, with the part before it if it is short
	// Parts from Next to before Until are omitted and can be read with Part. 0: none.
	Next, Until int64
}

// Ends reads the first and last entries of a timeline and everything that they show. Errors: 404, 410.
func (s *Service) Ends(ctx context.Context, a *repo.Access, number int64) (*Ends, error) {
	var e *ends
	list, err := s.entries(ctx, a, number, func(tx *db.Tx, i *issue.Issue) (_ []entry, err error) {
		e, err = readEnds(tx, a, i)
		if err != nil {
			return nil, err
		}
		return e.entries, nil
	})
	if err != nil {
		return nil, err
	}
	return &Ends{First: list[:e.first], Last: list[e.first:], Next: e.next, Until: e.until}, nil
}

// ends are the entries at both ends of a timeline.
type ends struct {
	entries     []entry
	first       int   // number of entries at the beginning
	next, until int64 // omitted parts; 0: none
}

// readEnds reads the entries at both ends of a timeline in one statement. As in pages, only the first
// maxDeep events count; later ones appear only at the end.
func readEnds(tx *db.Tx, a *repo.Access, i *issue.Issue) (*ends, error) {
	var first, last []entry
	var events int64
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var part, at, kind int64
		var e entry
		err := row.Scan(&part, &at, &kind, &e.id, &events)
		if e.comment = kind == 0; part == 1 {
			first = append(first, e)
		} else {
			last = append(last, e)
		}
		return err
	}, `SELECT p.part, p.at, p.kind, p.id, n.total FROM (
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
		account.IDOf(a.Caller), i.ID, int64(issue.EventCrossReferenced), a.ID, PartSize, 2*PartSize, maxDeep)
	if err != nil {
		return nil, err
	}
	return joinEnds(first, last, events+i.Comments), nil
}

// joinEnds combines the first and last entries of a timeline with total entries. last ends with the
// timeline and has two parts, or all.
func joinEnds(first, last []entry, total int64) *ends {
	e := &ends{first: len(first)}
	if total <= int64(len(first)) {
		e.entries = first
		return e
	}
	e.next, e.until = 2, (total+PartSize-1)/PartSize
	if total-(e.until-1)*PartSize < shortEnd && e.until > 2 {
		e.until--
	}
	begin := (e.until - 1) * PartSize // index of the first entry of the end
	if e.until <= 2 {
		e.next, e.until = 0, 0
	}
	if total >= maxDeep {
		e.until, begin = maxDeep/PartSize+1, total-PartSize
	}
	e.entries = append(first, last[max(0, int64(len(last))-(total-begin)):]...)
	return e
}
