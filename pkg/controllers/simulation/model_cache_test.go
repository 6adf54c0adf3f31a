package simulation

// cached is what a cache shows: a version of the past, and perhaps one between that one and the
// present, which it may show next. Of several between them it may be any, and in place of one that
// was shown another may come. Two of them, one after the other, while the present stays, are
// left out: the states would be too many.
type cached[T comparable] struct {
	Shows, Between T
	Has            bool // whether there is one between
}

// reads returns what the cache may show next.
func (c cached[T]) reads(present T) []cached[T] {
	if c.Has {
		return []cached[T]{{Shows: present}, {Shows: c.Between}}
	}
	return []cached[T]{{Shows: present}}
}

// overtaken returns what the cache may be once the present has changed. The versions that have
// been are those that may now be between.
func (c cached[T]) overtaken(lag bool, present T, been ...T) []cached[T] {
	ways := []cached[T]{c.without(present)}
	for _, version := range been {
		between := cached[T]{Shows: c.Shows, Between: version, Has: lag}.without(present)
		if between != ways[0] && between.Has {
			ways = append(ways, between)
		}
	}
	return ways
}

// without drops a version between that shows nothing new.
func (c cached[T]) without(present T) cached[T] {
	if c.Between == c.Shows || c.Between == present || !c.Has {
		return cached[T]{Shows: c.Shows}
	}
	return c
}
