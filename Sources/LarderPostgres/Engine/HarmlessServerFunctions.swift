/// PostgreSQL's own functions that leave nothing behind in a session, whatever
/// their arguments are, and run no SQL.
///
/// Any other function is taken for one that may leave something, which costs a
/// reset of the session, and nothing else.
///
/// See [Functions and Operators](https://www.postgresql.org/docs/15/functions.html).
enum HarmlessFunctions {
  /// Keywords that never make a parenthesis behind them a call: words that the server reserves, or has for
  /// types. Others, such as LIKE and JOIN, may name functions.
  static let keywords: Set<String> = words(
    """
    all and any array as asc between case cast check desc distinct else except exists fetch for from group grouping having
    in intersect interval lateral limit not offset on only or order primary returning row select
    some then to union unique using values variadic when where window with

    bit char character dec decimal float numeric precision time timestamp varchar

    timestamptz timetz varbit
    """)

  static let names: Set<String> = words(
    """
    abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos cosd cosh cot cotd degrees
    div erf erfc exp factorial floor gcd greatest lcm least ln log log10 min_scale mod pi power radians random round scale
    sign sin sind sinh sqrt tan tand tanh trim_scale trunc width_bucket

    ascii bit_length btrim char_length character_length chr concat concat_ws convert convert_from convert_to decode encode
    format initcap left length lower lpad ltrim md5 normalize octet_length overlay parse_ident position quote_ident
    quote_literal quote_nullable regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table regexp_substr repeat replace reverse right rpad rtrim split_part
    starts_with string_to_array string_to_table strpos substr substring to_ascii to_hex translate trim unistr upper
    bit_count get_bit get_byte set_bit set_byte sha224 sha256 sha384 sha512

    age clock_timestamp date date_bin date_part date_trunc extract isfinite justify_days justify_hours justify_interval
    make_date make_interval make_time make_timestamp make_timestamptz now overlaps statement_timestamp timeofday
    timezone to_char to_date to_number to_timestamp transaction_timestamp

    coalesce nullif pg_notify num_nonnulls num_nulls hashtext hashtextextended gen_random_uuid

    array_agg array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position
    array_positions array_prepend array_remove array_replace array_to_string array_upper cardinality generate_series
    generate_subscripts trim_array unnest int4range int8range numrange tsrange tstzrange daterange lower_inc upper_inc
    isempty range_merge multirange

    avg bit_and bit_or bit_xor bool_and bool_or count every json_agg json_object_agg jsonb_agg jsonb_object_agg max min
    mode percentile_cont percentile_disc range_agg string_agg sum corr covar_pop covar_samp regr_avgx regr_avgy
    regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp var_pop
    var_samp variance xmlagg
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number

    array_to_json json_array_elements json_array_elements_text json_array_length json_build_array json_build_object
    json_each json_each_text json_extract_path json_extract_path_text json_object json_object_keys json_populate_record
    json_populate_recordset json_strip_nulls json_to_record json_to_recordset json_typeof jsonb_array_elements
    jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_concat jsonb_contained
    jsonb_contains jsonb_delete jsonb_delete_path jsonb_each jsonb_each_text jsonb_exists jsonb_exists_all
    jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys
    jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array
    jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record
    jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset
    jsonb_typeof row_to_json to_json to_jsonb

    array_to_tsvector get_current_ts_config numnode phraseto_tsquery plainto_tsquery querytree setweight strip to_tsquery
    to_tsvector ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsquery_phrase tsvector_to_array websearch_to_tsquery
    similarity word_similarity strict_word_similarity show_trgm unaccent

    col_description current_database current_query current_schema current_schemas current_setting format_type
    has_any_column_privilege has_column_privilege has_database_privilege has_function_privilege has_schema_privilege
    has_sequence_privilege has_table_privilege inet_client_addr inet_client_port inet_server_addr inet_server_port
    obj_description pg_backend_pid pg_blocking_pids pg_column_size pg_control_checkpoint pg_control_recovery
    pg_current_snapshot pg_current_wal_insert_lsn pg_current_wal_lsn pg_current_xact_id pg_current_xact_id_if_assigned
    pg_database_size pg_describe_object pg_function_is_visible pg_get_constraintdef pg_get_expr pg_get_functiondef pg_get_indexdef
    pg_get_keywords pg_get_partkeydef pg_get_serial_sequence pg_get_triggerdef pg_get_userbyid pg_get_viewdef
    pg_has_role pg_indexes_size pg_is_in_recovery pg_last_wal_receive_lsn pg_last_wal_replay_lsn
    pg_last_xact_replay_timestamp pg_lock_status pg_notify pg_postmaster_start_time pg_relation_filenode
    pg_relation_size pg_sequence_last_value pg_size_bytes pg_size_pretty pg_sleep pg_sleep_for pg_sleep_until
    pg_snapshot_xmax pg_snapshot_xmin pg_stat_get_activity pg_table_is_visible pg_table_size pg_tablespace_size
    pg_total_relation_size pg_type_is_visible pg_typeof pg_wal_lsn_diff pg_walfile_name pg_xact_status row_security_active
    shobj_description to_regclass to_regcollation to_regnamespace to_regoper to_regproc to_regprocedure to_regrole
    to_regtype txid_current txid_current_if_assigned txid_current_snapshot version
    pg_advisory_xact_lock pg_advisory_xact_lock_shared pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared

    bigint bool boolean bytea int int2 int4 int8 integer json jsonb smallint text uuid
    """)

  private static func words(_ text: String) -> Set<String> {
    Set(text.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init))
  }
}
