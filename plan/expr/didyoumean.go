package expr

import "strings"

// DidYouMean returns the candidate that word was probably meant to be, or "".
// It uses the Damerau–Levenshtein distance (adjacent letters swapped count once),
// admits about a third of the word's length, and prefers the first of equals.
func DidYouMean(word string, candidates []string) string {
	best, bestDistance := "", max(1, (len([]rune(word))+1)/3)+1
	lower := strings.ToLower(word)
	for _, c := range candidates {
		if c == word {
			continue
		}
		d := distance(lower, strings.ToLower(c), bestDistance)
		if d < bestDistance && d < len([]rune(c)) {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the restricted Damerau–Levenshtein distance, or limit if it is not
// below limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if abs := len(x) - len(y); abs >= limit || -abs >= limit || len(x) > 100 {
		return limit
	}
	before, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(y)]
}
