"""What there is, as `show` lists it: queries without parameters."""

from __future__ import annotations

from warehouse.store.sql import Sql

_FACT_COUNTS = (
    "select system_id, test_set_id, 'score' as kind from score union all "
    "select system_id, test_set_id, 'counted' from counted union all "
    "select system_id, test_set_id, 'decision' from decision union all "
    "select system_id, test_set_id, 'value' from value union all "
    "select system_id, test_set_id, 'ranking' from ranking where rank = 1 union all "
    "select system_id, test_set_id, 'published' from published"
)

ALL_SYSTEMS = Sql(
    "select s.name, string_agg(distinct t.name, ', ' order by t.name), count(*) filter (f.kind = 'score'), "
    "count(*) filter (f.kind = 'counted'), count(*) filter (f.kind = 'decision'), "
    "count(*) filter (f.kind = 'value'), count(*) filter (f.kind = 'published') "
    f"from system s left join ({_FACT_COUNTS}) f on f.system_id = s.id left join test_set t on t.id = f.test_set_id "
    "group by s.name order by s.name"
)

ALL_TEST_SETS = Sql(
    f"with facts as ({_FACT_COUNTS}) "
    "select t.name, nullif(e.name, ''), coalesce(max(d.documents), 0), null, coalesce(max(f.systems), 0), "
    "count(*) filter (k.label = 'relevant'), count(*) filter (k.label = 'optional'), "
    "count(*) filter (k.label = 'nonrelevant') "
    "from test_set t join evaluation e on e.id = t.evaluation_id "
    "left join (select test_set_id, count(*) as documents from document group by test_set_id) d "
    "on d.test_set_id = t.id "
    "left join (select test_set_id, count(distinct system_id) as systems from facts group by test_set_id) f "
    "on f.test_set_id = t.id "
    "left join key_label k on k.test_set_id = t.id and k.annotator_id = 0 "
    "group by t.id, t.name, e.name order by e.name, t.name"
)

ALL_EVALUATIONS = Sql(
    "select e.name, count(*) from evaluation e join test_set t on t.evaluation_id = e.id "
    "where e.name <> '' group by e.name order by e.name"
)

ALL_IMPORTS = Sql(
    "select id, source, reader, rows, texts, strftime(imported_at, '%Y-%m-%d %H:%M:%S'), "
    "case when simulated then 'yes' else 'no' end, sha256, options, version from import left join "
    "(select import_id, count(*) as texts from (select import_id, piece from document_text union all "
    "select import_id, piece from system_text) where piece = 1 group by import_id) on import_id = id order by id"
)

ALL_TEXTS = Sql(
    "select t.name, nullif(e.name, ''), kind, nullif(count(distinct system_id), 0), count(distinct document_id), "
    "count(*), sum(characters) from "
    "(select test_set_id, null as system_id, document_id, kind, piece, characters from document_text union all "
    "select test_set_id, system_id, document_id, kind, piece, characters from system_text) f "
    "join test_set t on t.id = f.test_set_id join evaluation e on e.id = t.evaluation_id where piece = 1 "
    "group by t.name, e.name, kind order by e.name, t.name, "
    "case kind when 'input' then 1 when 'reference' then 2 else 3 end"
)
ANY_TEXT = Sql("(select 1 from document_text limit 1) union all (select 1 from system_text limit 1)")

ALL_ATTRIBUTES = Sql(
    "select of || '.' || name, count(*), string_agg(distinct value, ', ' order by value) from "
    "(select 'system' as of, name, value from system_attribute union all "
    "select 'document', name, value from document_attribute) "
    "group by all order by 1"
)
