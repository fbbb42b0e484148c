package file

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/depot"
)

// DepotListing are the objects of a store's depots, by their lists.
type DepotListing struct {
	sizes map[DepotID]map[string]int64 // by key
}

// Lists reads what lies in the depots of the store. Errors: *depot.IdentityError; 503.
func (s *Store) Lists(ctx context.Context) (*DepotListing, error) {
	rows, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]depotRow, error) { return depots(tx) })
	if err != nil {
		return nil, err
	}
	l := &DepotListing{sizes: map[DepotID]map[string]int64{}}
	for _, row := range rows {
		d, err := s.open(&row)
		if err != nil {
			return nil, err
		}
		sizes := map[string]int64{}
		l.sizes[row.id] = sizes
		err = d.List(ctx, Folder+"/", func(e depot.Entry) error {
			sizes[e.Key] = e.Size
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Has reports whether a list has a file, with its size, and strikes it off.
func (l *DepotListing) Has(f *File) bool {
	size, ok := l.sizes[f.Depot][Path(f.Name)]
	delete(l.sizes[f.Depot], Path(f.Name))
	return ok && size == f.Size
}

// Left lists the keys that were not struck off.
func (l *DepotListing) Left() (keys []string) {
	for _, sizes := range l.sizes {
		for key := range sizes {
			keys = append(keys, key)
		}
	}
	return keys
}
