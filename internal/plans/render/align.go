package render

// align walks two sequences side by side along their longest common
// subsequence. visit gets the index of an element in each, or -1 where the other
// has no counterpart. Elements between two common ones are removed first and
// then added; neighbours that pair accepts are visited together.
func align[T any](before, after []T, equal, pair func(a, b T) bool, visit func(i, j int)) {
	common := commonSubsequence(before, after, equal)
	i, j := 0, 0
	for _, next := range append(common, [2]int{len(before), len(after)}) {
		for i < next[0] {
			if j < next[1] && pair(before[i], after[j]) {
				visit(i, j)
				i, j = i+1, j+1
				continue
			}
			visit(i, -1)
			i++
		}
		for ; j < next[1]; j++ {
			visit(-1, j)
		}
		if i < len(before) && j < len(after) {
			visit(i, j)
			i, j = i+1, j+1
		}
	}
}

// maxAlignCells bounds the table of [commonSubsequence]: 4M cells are 16 MB.
const maxAlignCells = 4 << 20

// commonSubsequence returns the index pairs of a longest common subsequence.
// Sequences too long for the table are compared at their ends only.
func commonSubsequence[T any](before, after []T, equal func(a, b T) bool) [][2]int {
	head := 0
	for head < len(before) && head < len(after) && equal(before[head], after[head]) {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && equal(before[len(before)-1-tail], after[len(after)-1-tail]) {
		tail++
	}
	var out [][2]int
	for i := range head {
		out = append(out, [2]int{i, i})
	}
	middle := commonTable(before[head:len(before)-tail], after[head:len(after)-tail], equal)
	for _, p := range middle {
		out = append(out, [2]int{p[0] + head, p[1] + head})
	}
	for k := tail; k > 0; k-- {
		out = append(out, [2]int{len(before) - k, len(after) - k})
	}
	return out
}

// commonTable is the textbook solution by dynamic programming.
func commonTable[T any](a, b []T, equal func(x, y T) bool) [][2]int {
	if len(a) == 0 || len(b) == 0 || len(a) > maxAlignCells/len(b) {
		return nil
	}
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width)
	for i, x := range a {
		for j, y := range b {
			cell := (i+1)*width + j + 1
			if equal(x, y) {
				length[cell] = length[i*width+j] + 1
			} else {
				length[cell] = max(length[i*width+j+1], length[cell-1])
			}
		}
	}
	out := make([][2]int, length[len(a)*width+len(b)])
	for i, j, k := len(a), len(b), len(out); k > 0; {
		switch here := length[i*width+j]; {
		case length[(i-1)*width+j] == here:
			i--
		case length[i*width+j-1] == here:
			j--
		default:
			i, j, k = i-1, j-1, k-1
			out[k] = [2]int{i, j}
		}
	}
	return out
}
