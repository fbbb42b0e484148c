package gitlab

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"arbor/internal/migration/remote"
)

// maxNumber is the largest number of an issue here.
const maxNumber = 1 << 40

// issueKey and mergeKey are what records of issues and merge requests are called at the source.
func issueKey(iid int64) string { return strconv.FormatInt(iid, 10) }
func mergeKey(iid int64) string { return "!" + strconv.FormatInt(iid, 10) }

// list reads the lists of issues and merge requests, and gives them numbers, so that texts can name them.
func (s *Source) list(ctx context.Context) error {
	for _, l := range []struct {
		path, access string
		to           *remote.Turned
	}{{"/issues", s.about.Issues, s.issues}, {"/merge_requests", s.about.Merges, s.merges}} {
		if l.access == "disabled" {
			continue
		}
		path := s.path + l.path + "?state=all&scope=all&order_by=created_at&sort=asc"
		err := walkAll(ctx, s.Client, path, func(text *json.RawMessage) error {
			var of struct {
				IID          int64 `json:"iid"`
				Confidential bool  `json:"confidential"`
			}
			if err := json.Unmarshal(*text, &of); err != nil {
				return fmt.Errorf("unexpected answer for a GitLab server: %w", err)
			}
			if of.IID < 1 || of.IID > maxNumber/2 {
				s.Leave("%s with the number %d", l.path[1:], of.IID)
				return nil
			}
			if of.Confidential && !s.about.hidden() {
				s.Leave("issue %d, which is confidential", of.IID)
				s.confidential = max(s.confidential, of.IID)
				return nil
			}
			return l.to.Add(of.IID, *text)
		})
		if err := s.LeaveAbsent(l.path[1:], err); err != nil {
			return err
		}
	}
	s.number(s.issues.Numbers(), s.merges.Numbers())
	return nil
}

// number gives issues and merge requests the numbers that earlier imports gave, then issues their own, then
// merge requests those behind all, and issues whose number a merge request has.
func (s *Source) number(issues, merges []int64) {
	taken := map[int64]bool{}
	for _, n := range s.known.Of {
		taken[n] = true
	}
	var wait []string
	for _, iid := range issues {
		key := issueKey(iid)
		switch n := s.known.Of[key]; {
		case n != 0:
			s.numbers[key] = n
		case taken[iid]:
			wait = append(wait, key)
		default:
			s.numbers[key], taken[iid] = iid, true
		}
	}
	last := max(s.known.Next-1, s.confidential)
	for n := range taken {
		last = max(last, n)
	}
	give := func(key string) {
		if s.numbers[key] = s.known.Of[key]; s.numbers[key] == 0 {
			last++
			s.numbers[key] = last
		}
	}
	for _, iid := range merges {
		give(mergeKey(iid))
	}
	for _, key := range wait {
		give(key)
	}
}

// inOrder returns what the records of issues and merge requests are called, in the order of their numbers
// here.
func (s *Source) inOrder() []string {
	return slices.SortedFunc(maps.Keys(s.numbers),
		func(a, b string) int { return cmp.Compare(s.numbers[a], s.numbers[b]) })
}
