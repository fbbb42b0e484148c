package graphql

import (
	"reflect"

	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxRows limits the bytes of what one call of a loader returns.
const maxRows = 32 << 20

// The memory of a value is estimated from its texts and lists, which are all that can be large.
const (
	valueBytes = 256 // of a value without its texts
	mostDepth  = 4   // of structs within structs
)

// sizeOf estimates the memory of a value in bytes.
func sizeOf(v any) int64 { return valueBytes + textsIn(reflect.ValueOf(v), mostDepth) }

// sizeOfList is sizeOf for a page of a list.
func sizeOfList[V any](page *web.List[V]) int64 {
	bytes := int64(valueBytes)
	if page != nil {
		for _, row := range page.Rows {
			bytes += sizeOf(row)
		}
	}
	return bytes
}

// shared is what many values refer to, which counts once for all.
var shared = reflect.TypeFor[*repo.Access]()

// textsIn returns the bytes of the texts in a value, and of the elements of its lists.
func textsIn(v reflect.Value, depth int) (bytes int64) {
	switch v.Kind() {
	case reflect.String:
		return int64(v.Len())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Type() != shared {
			return textsIn(v.Elem(), depth)
		}
	case reflect.Slice, reflect.Array:
		bytes = int64(v.Len()) * int64(v.Type().Elem().Size())
		for n := range v.Len() {
			bytes += textsIn(v.Index(n), depth)
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if depth > 0 {
				bytes += textsIn(v.Field(n), depth-1)
			}
		}
	}
	return bytes
}
