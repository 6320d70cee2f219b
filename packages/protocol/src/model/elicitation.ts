/** Elicitation: a server asks the user, by a form or by a web page. Since 2025-06-18. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { MetaObject, NotificationParams, RequestParams } from './meta.ts';
import type { TaskMetadata } from './tasks.ts';

/** What every field of a form may have. */
interface FieldBase extends JsonObject {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

/** A field for text. */
export interface StringSchema extends FieldBase {
  readonly type: 'string';
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time' | undefined;
  /** Since 2025-11-25. */
  readonly default?: string | undefined;
}

/** A field for a number. */
export interface NumberSchema extends FieldBase {
  readonly type: 'number' | 'integer';
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  /** Since 2025-11-25. */
  readonly default?: number | undefined;
}

/** A field for yes or no. */
export interface BooleanSchema extends FieldBase {
  readonly type: 'boolean';
  readonly default?: boolean | undefined;
}

/** A value and what people read for it. */
interface EnumOption extends JsonObject {
  readonly const: string;
  readonly title: string;
}

/** A choice of one value, shown as it is. */
export interface UntitledSingleSelectEnumSchema extends FieldBase {
  readonly type: 'string';
  readonly enum: readonly string[];
  readonly default?: string | undefined;
}

/** Since 2025-11-25. */
export interface TitledSingleSelectEnumSchema extends FieldBase {
  readonly type: 'string';
  readonly oneOf: readonly EnumOption[];
  readonly default?: string | undefined;
}

/** A choice of one. */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

/** Since 2025-11-25. */
export interface UntitledMultiSelectEnumSchema extends FieldBase {
  readonly type: 'array';
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly items: EnumItems;
  readonly default?: readonly string[] | undefined;
}

/** The values of a choice of several. */
interface EnumItems extends JsonObject {
  readonly type: 'string';
  readonly enum: readonly string[];
}

/** Since 2025-11-25. */
export interface TitledMultiSelectEnumSchema extends FieldBase {
  readonly type: 'array';
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly items: TitledEnumItems;
  readonly default?: readonly string[] | undefined;
}

/** The values of a choice of several, with what people read for them. */
interface TitledEnumItems extends JsonObject {
  readonly anyOf: readonly EnumOption[];
}

/** A choice of several. Since 2025-11-25. */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

/** @deprecated since 2025-11-25: use `oneOf` with titles. Still read from, and written for, 2025-06-18. */
export interface LegacyTitledEnumSchema extends FieldBase {
  readonly type: 'string';
  readonly enum: readonly string[];
  /** What people read for each value of `enum`. */
  readonly enumNames?: readonly string[] | undefined;
  readonly default?: string | undefined;
}

/** Any field for a choice. */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** One field of a form. Fields do not nest. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** The fields of a form, by name. */
interface RequestedSchema extends JsonObject {
  readonly $schema?: string | undefined;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, PrimitiveSchemaDefinition>>;
  readonly required?: readonly string[] | undefined;
}

/**
 * Asks by a form. Never for passwords, keys or payment details.
 *
 * @see 2026-07-28 client/elicitation#form-mode-elicitation-requests
 */
export interface ElicitRequestFormParams extends RequestParams {
  readonly mode?: 'form' | undefined;
  readonly message: string;
  readonly requestedSchema: RequestedSchema;
  /** Asks for a task. @until 2025-11-25 */
  readonly task?: TaskMetadata | undefined;
}

/**
 * Asks by a web page that the user opens. Since 2025-11-25.
 *
 * @see 2026-07-28 client/elicitation#url-mode-elicitation-requests
 */
export interface ElicitRequestURLParams extends RequestParams {
  readonly mode: 'url';
  readonly message: string;
  readonly url: string;
  /** Mandatory in 2025-11-25, unique within the server. @until 2025-11-25; then `requestState` holds what the server needs. */
  readonly elicitationId?: string | undefined;
  /** Asks for a task. @until 2025-11-25 */
  readonly task?: TaskMetadata | undefined;
}

/** Params of `elicitation/create`: a form, or since 2025-11-25 a page to open. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams;

/** What a user put in a form. Arrays since 2025-11-25. */
export type ElicitContent = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The user's answer. In URL mode `accept` means consent to open the page, not that anything is done. */
export interface ElicitResult extends JsonObject {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** Only with `accept` in form mode. */
  readonly content?: ElicitContent | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** Params of `notifications/elicitation/complete`. @until 2025-11-25; then the client retries and sees. */
export interface ElicitationCompleteNotificationParams extends NotificationParams {
  readonly elicitationId: string;
}
