/** Elicitation: a server asks the user for input, by a form or a web page. Since 2025-06-18. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { MetaObject, NotificationParams, RequestParams } from './meta.ts';
import type { TaskMetadata } from './tasks.ts';

/** The members that every form field may have. */
interface FieldBase extends JsonObject {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

/** A text field. */
export interface StringSchema extends FieldBase {
  readonly type: 'string';
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time' | undefined;
  /** Since 2025-11-25. */
  readonly default?: string | undefined;
}

/** A number field. */
export interface NumberSchema extends FieldBase {
  readonly type: 'number' | 'integer';
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  /** Since 2025-11-25. */
  readonly default?: number | undefined;
}

/** A yes-or-no field. */
export interface BooleanSchema extends FieldBase {
  readonly type: 'boolean';
  readonly default?: boolean | undefined;
}

/** A value of a choice, and the label that the user sees. */
interface EnumOption extends JsonObject {
  readonly const: string;
  readonly title: string;
}

/** A choice of one value, without labels. */
export interface UntitledSingleSelectEnumSchema extends FieldBase {
  readonly type: 'string';
  readonly enum: readonly string[];
  readonly default?: string | undefined;
}

/** A choice of one value, with labels. Since 2025-11-25. */
export interface TitledSingleSelectEnumSchema extends FieldBase {
  readonly type: 'string';
  readonly oneOf: readonly EnumOption[];
  readonly default?: string | undefined;
}

/** A choice of one value. */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

/** A choice of several values, without labels. Since 2025-11-25. */
export interface UntitledMultiSelectEnumSchema extends FieldBase {
  readonly type: 'array';
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly items: EnumItems;
  readonly default?: readonly string[] | undefined;
}

/** The values of a multiple choice. */
interface EnumItems extends JsonObject {
  readonly type: 'string';
  readonly enum: readonly string[];
}

/** A choice of several values, with labels. Since 2025-11-25. */
export interface TitledMultiSelectEnumSchema extends FieldBase {
  readonly type: 'array';
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly items: TitledEnumItems;
  readonly default?: readonly string[] | undefined;
}

/** The values of a multiple choice, with labels. */
interface TitledEnumItems extends JsonObject {
  readonly anyOf: readonly EnumOption[];
}

/** A choice of several values. Since 2025-11-25. */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

/** A choice of one value, with labels. @deprecated since 2025-11-25: use `oneOf` with titles. Still used with peers of 2025-06-18. */
export interface LegacyTitledEnumSchema extends FieldBase {
  readonly type: 'string';
  readonly enum: readonly string[];
  /** The labels of the values in `enum`, in the same order. */
  readonly enumNames?: readonly string[] | undefined;
  readonly default?: string | undefined;
}

/** A field for a choice of one or several values. */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** One form field. Fields cannot be nested. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** The schema of a form: its fields by name. */
interface RequestedSchema extends JsonObject {
  readonly $schema?: string | undefined;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, PrimitiveSchemaDefinition>>;
  readonly required?: readonly string[] | undefined;
}

/**
 * Params of `elicitation/create` in form mode. Must not ask for passwords, keys or payment details.
 *
 * @see 2026-07-28 client/elicitation#form-mode-elicitation-requests
 */
export interface ElicitRequestFormParams extends RequestParams {
  readonly mode?: 'form' | undefined;
  readonly message: string;
  readonly requestedSchema: RequestedSchema;
  /** Requests that the client run this as a task. @until 2025-11-25 */
  readonly task?: TaskMetadata | undefined;
}

/**
 * Params of `elicitation/create` in URL mode: the user opens a web page. Since 2025-11-25.
 *
 * @see 2026-07-28 client/elicitation#url-mode-elicitation-requests
 */
export interface ElicitRequestURLParams extends RequestParams {
  readonly mode: 'url';
  readonly message: string;
  readonly url: string;
  /** Mandatory in 2025-11-25, unique within the server. @until 2025-11-25; later revisions use `requestState` instead. */
  readonly elicitationId?: string | undefined;
  /** Requests that the client run this as a task. @until 2025-11-25 */
  readonly task?: TaskMetadata | undefined;
}

/** Params of `elicitation/create`: form mode, or since 2025-11-25 URL mode. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams;

/** The values that the user entered in a form, by field name. Arrays since 2025-11-25. */
export type ElicitContent = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The user's answer. In URL mode `accept` means that the user agreed to open the page, not that the user has finished there. */
export interface ElicitResult extends JsonObject {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** Only with `accept` in form mode. */
  readonly content?: ElicitContent | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** Params of `notifications/elicitation/complete`. @until 2025-11-25; in later revisions the client retries its request instead. */
export interface ElicitationCompleteNotificationParams extends NotificationParams {
  readonly elicitationId: string;
}
